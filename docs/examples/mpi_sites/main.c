/* All ranks use the block length that rank 0 finds while the program works. */
#include <autotune.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 1 << 16 };

static int broadcast(void *context, void *bytes, size_t size_bytes)
{
    (void)context;
    return MPI_Bcast(bytes, (int)size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Sums a matrix by columns, some columns at a time. */
static double sum(const float *matrix, int64_t block)
{
    double total = 0;
    for (int64_t first = 0; first < 256; first += block)
        for (int row = 0; row < N / 256; row++)
            for (int64_t i = first; i < first + block; i++)
                total += matrix[row * 256 + i];
    return total;
}

int main(int argc, char **argv)
{
    static float matrix[N];
    static const int64_t blocks[] = {1, 16, 256};
    double total = 0;
    at_error error = {0};
    at_sites *sites = NULL;
    at_site *site = NULL;
    at_site_report report = {0};
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        matrix[i] = 1;
    const at_sites_options options = {
        .code = "1", .clock = AT_SITE_CLOCK_HOST, .broadcast = broadcast, .rank = rank};
    const at_variable problem[] = {at_integer("n", N)};
    const at_parameter parameters[] = {at_integers("block", blocks, 3)};
    int failed = at_sites_open(&options, &sites, &error) ||
                 at_site_open(sites, "sum", problem, 1, parameters, 1, &site, &error);
    for (int i = 0; i < 2000 && !failed; i++) {
        at_values values;
        failed = at_site_begin(site, NULL, &values, &error);
        if (failed)
            break;
        total = sum(matrix, values.items[0].integer);
        failed = at_site_end(site, NULL, &values, &error);
    }
    if (!failed && !at_site_get(site, &report, &error))
        printf("rank %d: %.0f, block %d\n", rank, total, (int)report.values.items[0].integer);
    if (failed)
        fprintf(stderr, "rank %d: %s\n", rank, error.message);
    at_sites_close(sites);
    MPI_Finalize();
    return failed;
}
