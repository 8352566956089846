const patterns = [
  /^(test|bench|examples|\.github|\.ci|\.githooks)\//,
  /\.(test|services|clients)\.[jt]s$/,
  /\.md$/,
  /(^|\/)\.env($|\.)/,
  /\.(pem|key|dump|ndjson|csv|log)$/,
  /^(biome|tsconfig)\.json$/,
]

/** Whether a file of the repository must not be part of a server: tests, documentation sources, secrets, local data. */
export function misplaced(file: string): boolean {
  return patterns.some((pattern) => pattern.test(file))
}
