// Giving the GIL away and taking it back, also while the interpreter closes.
//
// A thread that asks for the GIL then is ended by unwinding its stack, and a C++ frame on it turns
// that into an abort of the process. Such a thread, a daemon that still predicts, waits for ever
// instead: the process ends around it.
#pragma once

#include <nanobind/nanobind.h>

namespace hedgerow {

// What a thread does before and after it asks for the GIL.
void begin_asking_for_gil();
void end_asking_for_gil();

// Lets `close_gil` be called before the interpreter closes.
void guard_gil();

class GilReleased {
  public:
    GilReleased() : state_(PyEval_SaveThread()) {}
    ~GilReleased() {
        begin_asking_for_gil();
        PyEval_RestoreThread(state_);
        end_asking_for_gil();
    }
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;

  private:
    PyThreadState* state_;
};

class GilHeld {
  public:
    GilHeld() {
        begin_asking_for_gil();
        state_ = PyGILState_Ensure();
        end_asking_for_gil();
    }
    ~GilHeld() { PyGILState_Release(state_); }
    GilHeld(const GilHeld&) = delete;
    GilHeld& operator=(const GilHeld&) = delete;

  private:
    PyGILState_STATE state_;
};

}  // namespace hedgerow
