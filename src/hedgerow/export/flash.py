"""What a model takes of a microcontroller's flash, measured by a compiler for it."""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.export.c import to_c
from hedgerow.export.running import RuntimeMissingError

# A Cortex-M0 with 256 kB of flash, as QEMU has it: two vectors, no start-up code, and an exit
# through the debugger's breakpoint.
_BOARD = """\
MEMORY { flash (rx): ORIGIN = 0, LENGTH = 256K  ram (rwx): ORIGIN = 0x20000000, LENGTH = 16K }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > flash
  .data : { *(.data*) *(.bss*) } > ram
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
_START = """\
static void leave(unsigned code) {
  volatile unsigned block[2] = {0x20026, 0};
  register unsigned call __asm__("r0") = 0x20;
  register volatile unsigned *with __asm__("r1") = block;
  block[1] = code;
  __asm__ volatile("bkpt 0xab" : : "r"(call), "r"(with) : "memory");
  for (;;) {}
}
static void start(void) { leave((unsigned)model_self_test()); }
__attribute__((section(".vectors"), used)) static void (*const vectors[2])(void) = {
  (void (*)(void))0x20004000, start};
"""


@dataclass(frozen=True)
class Chip:
    """A processor: its compiler, the flags that choose it, and Debian's package of the compiler."""

    compiler: str
    flags: tuple[str, ...]
    package: str


CHIPS = {
    "cortex-m0": Chip("arm-none-eabi-gcc", ("-mcpu=cortex-m0", "-mthumb"), "gcc-arm-none-eabi"),
    "cortex-m4": Chip(
        "arm-none-eabi-gcc",
        ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
        "gcc-arm-none-eabi",
    ),
    "avr": Chip("avr-gcc", ("-mmcu=atmega328p",), "gcc-avr and avr-libc"),
}


def size(model: Any, to: str = "c", *, target: str = "cortex-m0", **settings: Any) -> int:
    """Bytes of flash of a model: tables, code, and what the compiler's own library adds.

    The header of `to_c` is compiled with ``-Os`` and linked with a function that calls
    ``NAME_predict``; what that does not need is dropped. Start-up code is not counted.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    to : {"c"}, default="c"
    target : {"cortex-m0", "cortex-m4", "avr"}, default="cortex-m0"
        "avr" is an ATmega328P, whose tables stay in flash.
    **settings
        Those of `to_c`. Where nothing is said, numbers are "float" and leaves "uint8".

    Returns
    -------
    n_bytes : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import size
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> size(tree, "c", target="cortex-m0", numbers="ranks")  # doctest: +SKIP
    100
    """
    if to != "c":
        raise ValueError(f"'to' must be 'c', got {to!r}.")
    if target not in CHIPS:
        raise ValueError(f"'target' must be one of {', '.join(CHIPS)}, got {target!r}.")
    given: dict[str, Any] = {"numbers": "float", "leaves": "uint8", "progmem": target == "avr"}
    text = to_c(model, name="model", **given | settings)
    return measured(_use(text), target)


def _use(text: str) -> str:
    """A file with one function that predicts a row."""
    row = next(part for part in text.splitlines() if " numbers of type " in part)
    kind = row.split(" numbers of type ")[1].split(",")[0]
    head = next(part for part in text.splitlines() if " model_predict(const " in part)
    result = head.split(" model_predict(")[0].replace("static inline ", "")
    if result == "void":  # several numbers
        body = f"void use(const {kind} *x, double *p) {{ model_predict(x, (void *)p); }}"
    else:
        body = f"{result} use(const {kind} *x) {{ return model_predict(x); }}"
    return f"{text}\n{body}\n"


def measured(source: str, target: str, include: str = ".") -> int:
    """Bytes of flash that the function ``use`` of a C file needs."""
    chip = CHIPS[target]
    found = shutil.which(chip.compiler)
    if found is None:
        raise RuntimeMissingError(
            f"{chip.compiler} is not installed, which measures {target}: install {chip.package}."
        )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "use.c").write_text(source)
        command = [
            found, *chip.flags, "-std=c99", "-Os", "-ffunction-sections", "-fdata-sections",
            "-nostartfiles", "-Wl,--gc-sections", "-Wl,-e,use", "-Wl,-u,use", "-I", include,
            "use.c", "-o", "use",
        ]  # fmt: skip
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"{chip.compiler} failed: {ran.stderr.strip()}")
        tool = found.removesuffix("gcc") + "size"
        sizes = subprocess.run(
            [tool, "use"], cwd=folder, capture_output=True, text=True, check=True
        )
    code, data = sizes.stdout.splitlines()[1].split()[:2]
    return int(code) + int(data)


def emulated(text: str) -> int:
    """Rows of a header's self-test that are wrong on an emulated Cortex-M0.

    Parameters
    ----------
    text : str
        What `to_c` gives for the name "model".
    """
    compiler, emulator = shutil.which(CHIPS["cortex-m0"].compiler), shutil.which("qemu-system-arm")
    if compiler is None or emulator is None:
        raise RuntimeMissingError(
            "A Cortex-M0 is emulated with arm-none-eabi-gcc and qemu-system-arm: install "
            "gcc-arm-none-eabi and qemu-system-arm."
        )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # Its own main is for systems that have one.
        (place / "run.c").write_text(text.replace("int main(void)", "int unused(void)") + _START)
        (place / "board.ld").write_text(_BOARD)
        command = [compiler, *CHIPS["cortex-m0"].flags, "-std=gnu99", "-Os", "-DMODEL_TEST",
                   "-nostartfiles", "-T", "board.ld", "run.c", "-o", "run"]  # fmt: skip
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if built.returncode:
            raise RuntimeError(f"arm-none-eabi-gcc failed: {built.stderr.strip()}")
        board = ["-M", "microbit", "-nographic", "-semihosting", "-kernel", "run"]
        return subprocess.run([emulator, *board], cwd=folder, timeout=60).returncode
