/* The project of a directory: every layout that git makes, and files that are broken. The layouts
 * are written by hand, as git writes them: the tests need no git. */
#include "lib/test.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "cli/project.h"

/* Memory of the test's own. */
static lc_heap *own_heap(void)
{
    lc_heap *heap = (lc_heap *)test_bytes(sizeof *heap);

    lc_heap_init(heap, test_heap());
    return heap;
}

/* The temporary directory, as realpath() names it. */
static const char *new_place(void)
{
    char real[PATH_MAX];

    CHECK(realpath(test_tmpdir(), real) != NULL);
    return test_format("%s", real);
}

static const char *make_directory(const char *place, const char *name)
{
    const char *path = test_path(place, name);

    CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
    return path;
}

static void write_text(const char *directory, const char *name, const char *text)
{
    test_write_file(test_path(directory, name), loci_str_of(text));
}

/* Makes `path` a git directory, with this config. */
static void fill_git(const char *path, const char *config)
{
    write_text(path, "HEAD", "ref: refs/heads/main\n");
    (void)make_directory(path, "objects");
    (void)make_directory(path, "refs");
    write_text(path, "config", config);
}

/* place/name with a .git directory. */
static const char *make_repository(const char *place, const char *name, const char *config)
{
    const char *root = make_directory(place, name);

    fill_git(make_directory(root, ".git"), config);
    return root;
}

#define ORIGIN(url) "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = " url "\n"

typedef struct found {
    const char *id, *root, *remote; /* "" = none. */
} found;

static found find(const char *directory)
{
    lc_project project;
    lc_arena arena;
    loci_error err;
    found f;

    lc_arena_init(&arena, own_heap(), LOCI_MEM_REQUESTS);
    CHECK_OK(lc_project_find(&arena, directory, &project, &err), err);
    f = (found){test_format("%s", project.persona_id != NULL ? project.persona_id : ""),
                test_format("%s", project.root != NULL ? project.root : ""),
                test_format("%s", project.remote != NULL ? project.remote : "")};
    lc_arena_clear(&arena);
    return f;
}

static const char *named(const char *url)
{
    const char *name = "";
    lc_buf out;

    lc_buf_init(&out, own_heap(), LOCI_MEM_REQUESTS, 4096);
    if (lc_project_append_remote(&out, loci_str_of(url), "/nowhere/at/all"))
        name = test_format("%.*s", LC_STR_ARG(lc_buf_str(&out)));
    else
        CHECK_EQ(out.len, 0);
    lc_buf_clear(&out);
    return name;
}

/* One project cloned in different ways is one memory; credentials are never part of its name. */
TEST(project, all_spellings_of_a_remote_are_one_name)
{
    CHECK_STR_EQ(named("https://github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://github.com/acme/app"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://github.com/acme/app/"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://GitHub.com:443//acme//app.git/"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://me:ghp_secret@github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://me:p@ss@github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("https://github.com/acme/app?token=hush#x"), "github.com/acme/app");
    CHECK_STR_EQ(named("ssh://git@github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("ssh://git@github.com:22/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("git+ssh://git@github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("git://github.com/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("git@github.com:acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("github.com:acme/app"), "github.com/acme/app");
    CHECK_STR_EQ(named("git@github.com:/acme/app.git"), "github.com/acme/app");
    CHECK_STR_EQ(named("  git@github.com:acme/app.git "), "github.com/acme/app");
}

TEST(project, other_remotes_keep_what_tells_them_apart)
{
    CHECK_STR_EQ(named("https://gitlab.example.com/group/sub/app.git"),
                 "gitlab.example.com/group/sub/app");
    CHECK_STR_EQ(named("http://localhost:3000/me/app.git"), "localhost:3000/me/app");
    CHECK_STR_EQ(named("ssh://git@[::1]:2222/app"), "[::1]:2222/app");
    CHECK_STR_EQ(named("ssh://git@[::1]/app"), "[::1]/app");
    CHECK_STR_EQ(named("/srv/git/app.git"), "/srv/git/app");
    CHECK_STR_EQ(named("file:///srv/git/app.git"), "/srv/git/app");
    CHECK_STR_EQ(named("../app.git"), "/nowhere/at/all/../app");
    CHECK_STR_EQ(named("./a:b"), "/nowhere/at/all/./a:b");
    CHECK_STR_EQ(named("https://github.com/acme/.git"), "github.com/acme/.git");
}

TEST(project, a_remote_without_a_path_has_no_name)
{
    CHECK_STR_EQ(named(""), "");
    CHECK_STR_EQ(named("   "), "");
    CHECK_STR_EQ(named("https://github.com"), "");
    CHECK_STR_EQ(named("https://github.com/"), "");
    CHECK_STR_EQ(named("https:///acme/app"), "");
    CHECK_STR_EQ(named("git@github.com:"), "");
    CHECK_STR_EQ(named("ext::sh -c whatever"), "");
    CHECK_STR_EQ(named("codecommit::eu-west-1://app"), "");
}

TEST(project, is_found_from_any_directory_below_its_root)
{
    const char *place = new_place();
    const char *root = make_repository(place, "app", ORIGIN("git@github.com:acme/app.git"));
    const char *below = make_directory(make_directory(root, "a"), "b");
    found at_root = find(root), deep = find(below), in_git = find(test_path(root, ".git/refs"));

    CHECK_STR_EQ(at_root.id, "project:github.com/acme/app");
    CHECK_STR_EQ(at_root.root, root);
    CHECK_STR_EQ(at_root.remote, "origin");
    CHECK_STR_EQ(deep.id, at_root.id);
    CHECK_STR_EQ(deep.root, root);
    CHECK_STR_EQ(in_git.id, at_root.id);
}

TEST(project, outside_of_a_repository_there_is_none)
{
    const char *place = new_place();

    CHECK_STR_EQ(find(place).id, "");
    CHECK_STR_EQ(find(place).root, "");
    CHECK_STR_EQ(find(test_path(place, "missing")).id, "");
    CHECK_STR_EQ(find("/").id, "");
}

TEST(project, without_a_remote_it_is_named_after_its_path)
{
    const char *place = new_place();
    const char *root = make_repository(place, "app", "[core]\n\tbare = false\n");
    found f = find(root);

    CHECK_STR_EQ(f.id, test_format("project:%s", root));
    CHECK_STR_EQ(f.remote, "");
    CHECK_EQ(unlink(test_path(root, ".git/config")), 0);
    CHECK_STR_EQ(find(root).id, test_format("project:%s", root));
}

TEST(project, a_link_to_a_directory_is_the_directory)
{
    const char *place = new_place();
    const char *root = make_repository(place, "app", "");
    const char *link = test_path(place, "link");

    CHECK_EQ(symlink(root, link), 0);
    CHECK_STR_EQ(find(link).id, test_format("project:%s", root));
    CHECK_STR_EQ(find(test_path(link, ".git")).id, test_format("project:%s", root));
}

TEST(project, a_git_directory_may_be_a_link)
{
    const char *place = new_place();
    const char *root = make_directory(place, "app");
    const char *store = make_directory(place, "store");

    fill_git(store, ORIGIN("https://github.com/acme/app"));
    CHECK_EQ(symlink(store, test_path(root, ".git")), 0);
    CHECK_STR_EQ(find(root).id, "project:github.com/acme/app");
}

/* main/.git/worktrees/wt: what `git worktree add ../wt` makes. */
static const char *add_worktree(const char *place, const char *git, const char *name)
{
    const char *root = make_directory(place, name);
    const char *own = make_directory(make_directory(git, "worktrees"), name);

    write_text(own, "HEAD", "ref: refs/heads/topic\n");
    write_text(own, "commondir", "../..\n");
    write_text(own, "gitdir", test_format("%s/.git\n", root));
    write_text(root, ".git", test_format("gitdir: %s\n", own));
    return root;
}

TEST(project, worktrees_share_the_project_of_their_repository)
{
    const char *place = new_place();
    const char *with = make_repository(place, "with", ORIGIN("git@github.com:acme/app.git"));
    const char *without = make_repository(place, "without", "");
    const char *first = add_worktree(place, test_path(with, ".git"), "first");
    const char *second = add_worktree(place, test_path(without, ".git"), "second");

    CHECK_STR_EQ(find(first).id, "project:github.com/acme/app");
    CHECK_STR_EQ(find(first).root, first);
    CHECK_STR_EQ(find(second).id, test_format("project:%s", without));
    CHECK_STR_EQ(find(without).id, find(second).id);
}

TEST(project, worktrees_of_a_bare_repository_share_it)
{
    const char *place = new_place();
    const char *bare = make_directory(place, "app.git");
    const char *first = NULL, *second = NULL;

    fill_git(bare, "[core]\n\tbare = true\n");
    first = add_worktree(place, bare, "first");
    second = add_worktree(place, bare, "second");
    CHECK_STR_EQ(find(bare).id, test_format("project:%s", bare));
    CHECK_STR_EQ(find(test_path(bare, "refs")).id, find(bare).id);
    CHECK_STR_EQ(find(first).id, find(bare).id);
    CHECK_STR_EQ(find(second).id, find(first).id);
}

TEST(project, a_submodule_is_its_own_project)
{
    const char *place = new_place();
    const char *super = make_repository(place, "super", ORIGIN("git@github.com:acme/super.git"));
    const char *modules = make_directory(test_path(super, ".git"), "modules");
    const char *named_git = make_directory(modules, "lib"), *lib = make_directory(super, "lib");
    const char *local_git = make_directory(modules, "loc"), *loc = make_directory(super, "loc");

    fill_git(named_git, ORIGIN("https://github.com/acme/lib.git"));
    fill_git(local_git, "");
    write_text(lib, ".git", "gitdir: ../.git/modules/lib\n");
    write_text(loc, ".git", "gitdir: ../.git/modules/loc");
    CHECK_STR_EQ(find(super).id, "project:github.com/acme/super");
    CHECK_STR_EQ(find(lib).id, "project:github.com/acme/lib");
    CHECK_STR_EQ(find(loc).id, test_format("project:%s", loc));
}

TEST(project, origin_comes_before_other_remotes)
{
    const char *place = new_place();
    const char *two = make_repository(place, "two",
                                      "[remote \"upstream\"]\n url = https://a.test/up/app\n"
                                      "[remote \"origin\"]\n url = https://a.test/me/app\n");
    const char *none = make_repository(place, "none",
                                       "[remote \"zeta\"]\n url = https://a.test/zeta/app\n"
                                       "[remote \"alpha\"]\n url = https://a.test/alpha/app\n");

    CHECK_STR_EQ(find(two).id, "project:a.test/me/app");
    CHECK_STR_EQ(find(none).id, "project:a.test/zeta/app");
    CHECK_STR_EQ(find(none).remote, "zeta");
}

TEST(project, config_is_read_as_git_reads_it)
{
    static const char *const configs[] = {
        "[remote \"origin\"] url = https://a.test/x/y",
        "[REMOTE \"origin\"]\n\tURL=https://a.test/x/y\n",
        "# [remote \"origin\"]\n[remote \"origin\"]\n\turl = https://a.test/x/y ; why\n",
        "[remote \"origin\"]\n\turl = \"https://a.test/x/y\"\n",
        "[remote \"origin\"]\n\turl = https://a.test/x\\\n/y\n",
        "[remote \"origin\"]\r\n\turl = https://a.test/x/y\r\n",
        "[remote \"origin\"]\n\tpushurl = https://b.test/z\n\tfetch = +refs/*\n"
        "\turl = https://a.test/x/y\n\turl = https://c.test/second\n",
        "[branch \"remote\"]\n\turl = https://b.test/z\n"
        "[remote \"origin\"]\nurl=https://a.test/x/y",
        "[url \"https://b.test/\"]\n\tinsteadOf = gh:\n\turl = https://b.test/no\n"
        "[remote \"origin\"]\nurl = https://a.test/x/y\n",
    };
    const char *place = new_place();

    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        const char *root = make_repository(place, test_format("r%zu", i), configs[i]);

        CHECK_STR_EQ(find(root).id, "project:a.test/x/y");
    }
}

/* A file that is broken, too large, or no file at all counts as missing; nothing blocks. */
TEST(project, broken_files_count_as_missing)
{
    static const char *const broken[] = {"[remote \"origin", "[remote \"origin\"]\n\turl",
                                         "[remote \"origin\"]\n\turl =\n", "\x01\x02[[[",
                                         "url = x"};
    const char *place = new_place();
    const char *large = make_repository(place, "large", "");
    const char *pipe = make_repository(place, "pipe", "");
    const char *stray = make_repository(place, "outer", ORIGIN("https://a.test/outer"));
    char *text = test_bytes((1u << 20) + 64);

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *root = make_repository(place, test_format("b%zu", i), broken[i]);

        CHECK_STR_EQ(find(root).id, test_format("project:%s", root));
    }
    memset(text, '\n', (1u << 20) + 64);
    memcpy(text, "[remote \"origin\"]\nurl = https://a.test/x\n", 40);
    test_write_file(test_path(large, ".git/config"), (loci_str){text, (1u << 20) + 1});
    CHECK_STR_EQ(find(large).id, test_format("project:%s", large));
    CHECK_EQ(unlink(test_path(pipe, ".git/config")), 0);
    CHECK_EQ(mkfifo(test_path(pipe, ".git/config"), 0600), 0);
    CHECK_STR_EQ(find(pipe).id, test_format("project:%s", pipe));

    /* An invalid .git does not hide the repository around it. */
    write_text(make_directory(stray, "a"), ".git", "what is this?\n");
    (void)make_directory(make_directory(stray, "b"), ".git");
    CHECK_EQ(mkfifo(test_path(make_directory(stray, "c"), ".git"), 0600), 0);
    CHECK_STR_EQ(find(test_path(stray, "a")).id, "project:a.test/outer");
    CHECK_STR_EQ(find(test_path(stray, "b")).id, "project:a.test/outer");
    CHECK_STR_EQ(find(test_path(stray, "c")).id, "project:a.test/outer");
}

/* A worktree whose repository was moved does not belong to the repository around it. */
TEST(project, a_worktree_without_its_repository_is_named_after_its_path)
{
    const char *place = new_place();
    const char *outer = make_repository(place, "outer", ORIGIN("https://a.test/outer"));
    const char *lost = make_directory(outer, "lost");

    write_text(lost, ".git", "gitdir: /no/such/place/.git/worktrees/lost\n");
    CHECK_STR_EQ(find(lost).id, test_format("project:%s", lost));
}

/* Ids have at most 256 bytes of UTF-8 without control characters. */
TEST(project, names_that_an_id_cannot_have_end_in_a_hash)
{
    const char *place = new_place();
    char *name = test_bytes(300);
    const char *odd, *odd_again, *many, *two_long, *one_long;

    odd = find(make_repository(place, "a\tb", "")).id;
    odd_again = find(make_repository(place, "a\nb", "")).id;
    many = find(make_repository(place, "\xff\xfe", "")).id;
    CHECK_EQ(strncmp(odd, "project:#", 9), 0);
    CHECK_EQ(strlen(odd), strlen("project:#") + 32);
    CHECK(strcmp(odd, odd_again) != 0);
    CHECK_EQ(strncmp(many, "project:#", 9), 0);

    memset(name, 'x', 200);
    one_long = find(
                   make_repository(place, "one",
                                   test_format("[remote \"origin\"]\nurl = https://a.test/%s%s/1\n",
                                               name, name)))
                   .id;
    two_long = find(
                   make_repository(place, "two",
                                   test_format("[remote \"origin\"]\nurl = https://a.test/%s%s/2\n",
                                               name, name)))
                   .id;
    CHECK_LE(strlen(one_long), LC_ID_BYTES_MAX);
    CHECK_CONTAINS(one_long, "project:a.test/xxx");
    CHECK(strcmp(one_long, two_long) != 0);
}

static loci_status find_again(void *ctx)
{
    lc_project project;
    lc_heap heap;
    lc_arena arena;
    loci_error err;
    loci_status status;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_project_find(&arena, ctx, &project, &err);
    /* A file that cannot be read for lack of memory counts as missing: another name is a wrong
     * answer only if it is given as the right one. */
    if (status == LOCI_OK && (project.persona_id == NULL || project.remote == NULL))
        status = LOCI_ERESOURCE;
    lc_arena_clear(&arena);
    return status;
}

TEST(project, running_out_of_memory_is_reported)
{
    const char *root = make_repository(new_place(), "app", ORIGIN("https://a.test/x/y"));

    test_oom_sweep(find_again, (void *)(uintptr_t)root);
}
