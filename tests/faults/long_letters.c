/* A rank of a launch in which rank 0 does not receive. This rank sends messages that are too long
 * for MPI to buffer. mail_close() must still end. */
#include "ranks/mail.h"

enum { LETTERS = 3, LEAVE_MS = 5000 };

int main(void)
{
    static const unsigned char bytes[MAIL_MOST_BYTES];
    at_error error = {0};
    mail *m;
    if (mail_open(8, &m, &error))
        return 1;
    for (int i = 0; i < LETTERS && mail_rank(m) != 0; i++)
        mail_send(m, 0, LETTER_DATA, 1, bytes, sizeof bytes);
    mail_close(m, LEAVE_MS, 2);
    return 0;
}
