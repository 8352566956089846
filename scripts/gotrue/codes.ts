/** The error codes that GoTrue sends. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `folder`: a checked-out GoTrue. Codes that its source declares and uses. */
export function listGotrueCodes(folder: string): string[] {
  const file = 'internal/api/apierrors/errorcode.go'
  const declared = readFileSync(join(folder, file), 'utf8').matchAll(
    /(ErrorCode\w+)\s+ErrorCode = "(\w+)"/g,
  )
  const source = globSync('internal/**/*.go', { cwd: folder })
    .filter((name) => name !== file && !name.endsWith('_test.go'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
  const used = new Set(source.match(/ErrorCode\w+/g))
  return [...declared]
    .flatMap(([, constant = '', code = '']) => (used.has(constant) ? code : []))
    .toSorted()
}
