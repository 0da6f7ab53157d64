// What the type checker cannot see: promises that nobody waits for, imports that only carry types, code that does nothing.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/", "src/protocol/", "*.mjs"] },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      "prefer-const": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      // Values of the wire and of the model are unknown until they are looked at; the two walls for them are tested.
      ...Object.fromEntries(["argument", "assignment", "call", "member-access", "return"].map((what) => [`@typescript-eslint/no-unsafe-${what}`, "off"])),
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/unbound-method": "off",
      // Providers and doubles answer at once where their interface promises to answer later.
      "@typescript-eslint/require-await": "off",
      // A leading underscore says that a value is not wanted.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  {
    files: ["test/**/*.ts"],
    // The runner waits for its tests by itself.
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
