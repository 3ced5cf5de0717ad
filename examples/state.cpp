// state.cpp - the same in C++, with a handle that closes itself. Built by CMakeLists.txt beside it.
#include <loci.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

class Engine {
public:
    explicit Engine(const std::string &store)
    {
        loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
        loci_error err;

        options.store = store.c_str();
        if (loci_open(&options, &engine_, &err) != LOCI_OK)
            throw std::runtime_error(err.message);
    }
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;
    ~Engine() { loci_close(engine_); }

    std::string call(const char *operation, const std::string &args)
    {
        loci_answer *answer = nullptr;
        loci_error err;

        if (loci_call(engine_, operation, {args.data(), args.size()}, nullptr, &answer, &err) !=
            LOCI_OK)
            throw std::runtime_error(std::string(loci_status_name(err.status)) + ": " +
                                     err.message);
        std::unique_ptr<loci_answer, decltype(&loci_answer_free)> owner(answer, loci_answer_free);
        loci_str json = loci_answer_json(answer);
        return {json.ptr, json.len};
    }

private:
    loci_engine *engine_ = nullptr;
};

int main(int argc, char **argv)
{
    Engine engine(argc > 1 ? argv[1] : "agent.db");

    engine.call("fact.write", R"({"key":"city","value":"Oslo"})");
    std::puts(engine.call("fact.current", R"({"key":"city"})").c_str());
    try {
        engine.call("fact.write", "{}");
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
}
