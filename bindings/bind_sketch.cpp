#include "arrays.hpp"
#include "data/sketch.hpp"

using namespace hedgerow;

namespace {

using ColumnArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using CodeArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Body>
void with_column(const ColumnArray& values, const Body& body) {
    with_numbers(values, [&]<class T>(const T* data) {
        body(Strided<T>{data, values.stride(0)}, values.shape(0));
    });
}

// Each sketch takes a column; sketches share the threads.
void add_batch(const std::vector<nb::handle>& sketches, const std::vector<ColumnArray>& columns,
               std::uint64_t first_row, int n_jobs) {
    if (sketches.size() != columns.size()) throw nb::value_error("every sketch needs a column");
    std::vector<Sketch*> to;
    for (const nb::handle one : sketches) to.push_back(&nb::cast<Sketch&>(one));
    for (const auto& column : columns) with_column(column, [](auto, std::size_t) {});  // its type
    in_core(n_jobs, [&](Team& team) {
        team.for_each(columns.size(), [&](std::size_t i, int worker) {
            with_column(columns[i],
                        [&](auto values, std::size_t n) { to[i]->add(first_row, values, n); });
            team.checkpoint(worker);
        });
    });
}

struct Coding {
    ColumnArray values;
    std::span<const double> largest;
    std::span<double> low, high;
    CodeArray codes;
    bool wide;
};

void code_batch(const std::vector<ColumnArray>& columns, const std::vector<Vector<double>>& largest,
                const std::vector<Numbers>& low, const std::vector<Numbers>& high,
                const std::vector<CodeArray>& codes, int n_jobs) {
    std::vector<Coding> all;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::size_t n_bins = largest.at(i).size();
        const bool wide = codes.at(i).dtype() == nb::dtype<std::uint16_t>();
        if (!wide &&
            (codes[i].dtype() != nb::dtype<std::uint8_t>() || n_bins > Dataset::most_narrow_bins)) {
            throw nb::type_error("codes must be uint8, or uint16 where there are many bins");
        }
        if (n_bins > Dataset::most_bins || low.at(i).size() != n_bins ||
            high.at(i).size() != n_bins || codes[i].size() != columns[i].shape(0)) {
            throw nb::value_error("the arrays of a column differ in length");
        }
        with_column(columns[i], [](auto, std::size_t) {});  // its type
        all.push_back({columns[i],
                       {largest[i].data(), n_bins},
                       {low[i].data(), n_bins},
                       {high[i].data(), n_bins},
                       codes[i],
                       wide});
    }
    in_core(n_jobs, [&](Team& team) {
        team.for_each(all.size(), [&](std::size_t i, int worker) {
            const Coding& c = all[i];
            with_column(c.values, [&](auto values, std::size_t n) {
                if (c.wide) {
                    code_numbers(values, n, c.largest, c.low, c.high,
                                 static_cast<std::uint16_t*>(c.codes.data()));
                } else {
                    code_numbers(values, n, c.largest, c.low, c.high,
                                 static_cast<std::uint8_t*>(c.codes.data()));
                }
            });
            team.checkpoint(worker);
        });
    });
}

nb::dict state_of(Sketch& sketch) {
    std::vector<std::uint64_t> heads, counts;
    std::vector<double> largest;
    for (const auto& [where, node] : sketch.nodes()) {
        const auto& runs = node.runs;
        for (const std::uint64_t head : {std::uint64_t{where.first}, where.second, node.n_rows,
                                         runs.slack, std::uint64_t{runs.largest.size()}}) {
            heads.push_back(head);
        }
        largest.insert(largest.end(), runs.largest.begin(), runs.largest.end());
        counts.insert(counts.end(), runs.counts.begin(), runs.counts.end());
    }
    nb::dict out;
    out["rank_error"] = sketch.rank_error();
    out["heads"] = array_of(std::move(heads));
    out["largest"] = array_of(std::move(largest));
    out["counts"] = array_of(std::move(counts));
    return out;
}

Sketch sketch_from(const nb::dict& from) {
    Sketch out(nb::cast<double>(from["rank_error"]));
    const auto heads = take<std::uint64_t>(from, "heads");
    const auto largest = take<double>(from, "largest");
    const auto counts = take<std::uint64_t>(from, "counts");
    if (heads.size() % 5 || largest.size() != counts.size()) {
        throw nb::value_error("the arrays of a sketch differ in length");
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < heads.size(); i += 5) {
        const std::size_t n = heads[i + 4];
        if (n > largest.size() - at) throw nb::value_error("a sketch is cut short");
        const auto begin = static_cast<std::ptrdiff_t>(at), end = begin + std::ptrdiff_t(n);
        out.put(static_cast<std::uint32_t>(heads[i]), heads[i + 1],
                {{{largest.begin() + begin, largest.begin() + end},
                  {counts.begin() + begin, counts.begin() + end},
                  heads[i + 3]},
                 heads[i + 2]});
        at += n;
    }
    return out;
}

}  // namespace

void bind_sketch(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Sketch>(m, "Sketch", "Distinct values, or ranks, of a column that comes in batches.")
        .def(nb::init<double>(), "rank_error"_a)
        .def("merge", &Sketch::merge, "other"_a, "Take in the rows of another sketch.")
        .def(
            "ends",
            [](Sketch& self, std::uint32_t max_bins) {
                const Runs runs = self.runs();
                BinEnds ends = bin_ends(runs, max_bins);
                return std::tuple(array_of(std::move(ends.largest)), ends.every_value,
                                  runs.largest.size(), runs.slack);
            },
            "max_bins"_a,
            "The largest value of each bin, whether a bin is one value, how many values (or runs) "
            "there are, and by how many rows a rank may be off.")
        .def_prop_ro("nbytes", &Sketch::nbytes)
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](Sketch& self, const nb::dict& state) { new (&self) Sketch(sketch_from(state)); });
    m.def("sketch_columns", &add_batch, "sketches"_a, "columns"_a, "first_row"_a, "n_jobs"_a,
          "Add a batch of rows to the sketches of its columns.");
    m.def("code_columns", &code_batch, "columns"_a, "largest"_a, "low"_a, "high"_a, "codes"_a,
          "n_jobs"_a,
          "Write the codes of a batch of rows, and widen the ranges of values seen in each bin.");
}
