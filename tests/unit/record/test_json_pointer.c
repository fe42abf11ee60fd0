/* Tests how the line of the value of a JSON pointer is found. */
#include "check.h"

#include "record/record.h"

TEST(a_pointer_leads_to_the_line_of_its_value)
{
    static const char text[] = "{\n"
                               "  \"a\": [1, {\"x\": \"}\\\",\\n\"},\n"
                               "    [],\n"
                               "    {\"deep\":\n"
                               "      true}],\n"
                               "  \"a/b\": -1.5e3,\n"
                               "  \"c\": null\n"
                               "}\n";
    static const struct {
        const char *pointer;
        int line;
    } cases[] = {{"", 1},          {"/a", 2},    {"/a/1/x", 2}, {"/a/2", 3}, {"/a/3", 4},
                 {"/a/3/deep", 5}, {"/a~1b", 6}, {"/c", 7},     {"/a/9", 2}, {"/a/3/none", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(json_pointer_line(text, cases[i].pointer), cases[i].line);
}
