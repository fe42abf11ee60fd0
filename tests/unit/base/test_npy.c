#include "base/npy.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Writes the start of a file: magic number, version, length and header. Returns its size. */
static size_t make(unsigned char *out, unsigned version, const char *header)
{
    const size_t start = version == 1 ? 10 : 12, length = strlen(header);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    for (size_t i = 8; i < start; i++)
        out[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(out + start, header, length);
    return start + length;
}

static at_status parse(unsigned version, const char *header, npy_header *out, at_error *error)
{
    unsigned char bytes[512];
    return npy_parse(bytes, make(bytes, version, header), out, error);
}

TEST(files_of_numpy_are_read)
{
    static const char header[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 1003), }          \n";
    for (unsigned version = 1; version <= 3; version++) {
        npy_header h;
        at_error error = {0};
        dtype type;
        assert_ok(parse(version, header, &h, &error), error);
        assert_int_equal(h.rank, 2);
        assert_int_equal(h.shape[0], 64);
        assert_int_equal(h.shape[1], 1003);
        assert_int_equal(h.count, 64 * 1003);
        assert_int_equal(h.data_offset, (version == 1 ? 10 : 12) + sizeof header - 1);
        assert_true(npy_dtype(&h, &type));
        assert_int_equal(type, DTYPE_FLOAT);
        assert_false(h.fortran);
    }
}

TEST(members_have_any_order_blanks_and_quotes)
{
    npy_header h;
    at_error error = {0};
    assert_ok(parse(1, "\n {\t\"shape\" :( 3 ,4L,\n5 ) ,'fortran_order':True,'descr' : '|i1'} ", &h,
                    &error),
              error);
    assert_int_equal(h.rank, 3);
    assert_int_equal(h.count, 60);
    assert_true(h.fortran);
}

TEST(a_single_number_and_a_column_lie_as_c_lays_them_out)
{
    npy_header h;
    at_error error = {0};
    assert_ok(parse(1, "{'descr': '<f8', 'fortran_order': True, 'shape': ()}", &h, &error), error);
    assert_int_equal(h.rank, 0);
    assert_int_equal(h.count, 1);
    assert_false(h.fortran);
    assert_ok(parse(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (7, 1)}", &h, &error),
              error);
    assert_false(h.fortran);
}

TEST(every_buffer_type_is_found)
{
    static const struct {
        const char *descr, *name;
        int type; /* -1 if no type is found */
    } cases[] = {
        {"|i1", "int8", DTYPE_INT8},
        {"|u1", "uint8", DTYPE_UINT8},
        {"|b1", "bool", DTYPE_UINT8},
        {"<i2", "int16", DTYPE_INT16},
        {"<u4", "uint32", DTYPE_UINT32},
        {"=i8", "int64", DTYPE_INT64},
        {"<f2", "float16", DTYPE_HALF},
        {"|V2", "V2", DTYPE_BFLOAT16},
        {"<f8", "float64", DTYPE_DOUBLE},
        {">f4", "float32", -1},
        {"<c8", "complex64", -1},
        {"<f16", "float128", -1},
        {"<U5", "U5", -1},
        {"|O", "O8", -1},
        {"<M8[ns]", "M8", -1},
        {">u1", "uint8", DTYPE_UINT8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128], name[NPY_NAME_BYTES];
        npy_header h;
        at_error error = {0};
        dtype type = DTYPE_COUNT;
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
                 cases[i].descr);
        assert_ok(parse(1, header, &h, &error), error);
        assert_string_equal(npy_name(&h, name), cases[i].name);
        assert_int_equal(npy_dtype(&h, &type), cases[i].type >= 0);
        if (cases[i].type >= 0)
            assert_int_equal(type, cases[i].type);
    }
}

TEST(invalid_headers_are_refused)
{
    static const struct {
        const char *header, *why;
    } cases[] = {
        {"", "not a dictionary"},
        {"[1, 2]", "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks 'shape'"},
        {"{'descr': '<f4', 'shape': (3,)}", "lacks 'fortran_order'"},
        {"{'shape': (3,), 'fortran_order': False}", "lacks 'descr'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}", "damaged"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "damaged"},
        {"{'descr': '<f0', 'fortran_order': False, 'shape': (3,)}", "damaged"},
        {"{'descr': 'float', 'fortran_order': False, 'shape': (3,)}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}", "damaged"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} and more", "text after"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "structures"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
         "more than 2^63 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
         "damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npy_header h;
        at_error error = {0};
        assert_int_equal(parse(1, cases[i].header, &h, &error), AT_FORMAT);
        if (!strstr(error.message, cases[i].why))
            fail_msg("%s: %s", cases[i].header, error.message);
    }
}

TEST(a_cut_file_is_refused)
{
    unsigned char bytes[512];
    size_t size = make(bytes, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}");
    npy_header h;
    at_error error = {0};
    for (size_t i = 0; i < size; i++)
        assert_int_equal(npy_parse(bytes, i, &h, &error), AT_FORMAT);
    bytes[6] = 9;
    assert_int_equal(npy_parse(bytes, size, &h, &error), AT_FORMAT);
    assert_non_null(strstr(error.message, "version 9"));
    bytes[6] = 1;
    bytes[0] = 'x';
    assert_int_equal(npy_parse(bytes, size, &h, &error), AT_FORMAT);
    assert_non_null(strstr(error.message, "does not begin"));
}
