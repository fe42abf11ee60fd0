/* `autotune --version --verbose`: all around a run that a report of a bug should name.
 *
 * Versions, driver, Toolkit, locale, the file systems of the folders that runs write and how these
 * lock, and the variables of the environment, of other tools as well, that change a run. */
#ifndef AUTOTUNE_CMD_ENVIRONMENT_H
#define AUTOTUNE_CMD_ENVIRONMENT_H

/* Prints it. A fact that cannot be found out is said in its place. Loads NVRTC, last. */
void environment_print(void);

#endif
