// A Kokkos program that requests the tile of its transpose through the tuning interface of Kokkos. Prints the last tile.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <vector>

namespace tools = Kokkos::Tools::Experimental;

int main(int argc, char **argv)
{
    Kokkos::initialize(argc, argv);
    {
        const int n = 256;
        const std::vector<std::int64_t> tiles = {256, 4, 16, 64};
        Kokkos::View<float **, Kokkos::LayoutRight> in("in", n, n), out("out", n, n);
        tools::VariableInfo size, tile;
        size.type = tile.type = tools::ValueType::kokkos_value_int64;
        size.category = tile.category = tools::StatisticalCategory::kokkos_value_ratio;
        size.valueQuantity = tools::CandidateValueType::kokkos_value_unbounded;
        tile.valueQuantity = tools::CandidateValueType::kokkos_value_set;
        tile.candidates = tools::make_candidate_set(tiles.size(), const_cast<std::int64_t *>(tiles.data()));
        size_t size_id = tools::declare_input_type("size", size);
        size_t tile_id = tools::declare_output_type("tile", tile);
        std::int64_t used = 0;
        for (int step = 0; step < 20000; step++) {
            size_t context = tools::get_new_context_id();
            tools::begin_context(context);
            tools::VariableValue given = tools::make_variable_value(size_id, std::int64_t(n));
            tools::VariableValue chosen = tools::make_variable_value(tile_id, tiles[0]);
            tools::set_input_values(context, 1, &given);
            tools::request_output_values(context, 1, &chosen);
            const int t = static_cast<int>(used = chosen.value.int_value), across = n / t;
            Kokkos::parallel_for("transpose", across * across, KOKKOS_LAMBDA(int block) {
                const int y = block / across * t, x = block % across * t;
                for (int j = y; j < y + t; j++)
                    for (int i = x; i < x + t; i++)
                        out(i, j) = in(j, i);
            });
            Kokkos::fence();
            tools::end_context(context);
        }
        std::printf("tile %d\n", static_cast<int>(used));
    }
    Kokkos::finalize();
}
