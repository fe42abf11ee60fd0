#include "check.h"

#include <string.h>

#include "cmd/table.h"

static size_t count_words(const char *list)
{
    size_t count = 0;
    for (list += strspn(list, " "); *list; list += strspn(list, " ")) {
        list += strcspn(list, " ");
        count++;
    }
    return count;
}

/* Every command accepts --help, although no command's list of options has this entry. */
TEST(every_option_that_a_command_lists_exists)
{
    size_t count;
    const command *const *all = commands_all(&count);
    for (size_t i = 0; i < count; i++) {
        option_description o;
        size_t described = 0;
        while (options_describe(all[i], described, &o))
            described++;
        if (described != count_words(all[i]->options ? all[i]->options : "") + 1)
            fail_msg("%s lists an option that there is not, or one twice: %s", all[i]->name,
                     all[i]->options);
    }
}

TEST(an_option_with_values_of_its_command_is_an_option_of_this_command)
{
    size_t count;
    const command *const *all = commands_all(&count);
    for (size_t i = 0; i < count; i++) {
        option_description o;
        bool found = !all[i]->chooses;
        for (size_t k = 0; options_describe(all[i], k, &o) && !found; k++)
            found = strcmp(o.name, all[i]->chooses) == 0 && strcmp(o.words, all[i]->words) == 0;
        if (!found)
            fail_msg("%s has no option %s", all[i]->name, all[i]->chooses);
    }
}
