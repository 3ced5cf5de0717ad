/* The rewriting of a file after something was forgotten, beside other processes that use it. */
#include "contract/note_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/db_upkeep.h"

#define CHECKPOINT_LOCK 121 /* The byte of the -shm file, as documented for SQLite's WAL. */
#define HOLD_US 300000

/* A process that holds the lock of a checkpoint for a while. Returns when it does. */
static pid_t check_point_elsewhere(const char *path)
{
    int ready[2];
    char byte;
    pid_t child;

    CHECK_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CHECKPOINT_LOCK, .l_len = 1};
        int fd = open(path, O_RDWR);

        if (fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        lc_clock_sleep_us(HOLD_US);
        _exit(0);
    }
    (void)close(ready[1]);
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

/* SQLite does not wait for the checkpoint of another process: a scrub that gave up then would leave
 * forgotten texts in the files for as long as the store is busy. */
TEST_ON(TEST_FILES, scrub, waits_for_a_checkpoint_elsewhere)
{
    const char *folder = test_tmpdir();
    pid_t child;
    int how;
    notes n;

    notes_open(&n, test_path(folder, "store.db"));
    notes_fill(&n, "ann", 50);
    child = check_point_elsewhere(test_path(folder, "store.db-shm"));
    CHECK_OK(n.db->driver->upkeep->scrub(n.db, &n.err), n.err);
    CHECK_EQ(waitpid(child, &how, 0), child);
    CHECK_EQ(how, 0);
    notes_close(&n);
}
