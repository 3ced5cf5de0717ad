// Everything that is only a type of arguments or answers.
export * from "./answers.js";
export * from "./args.js";
