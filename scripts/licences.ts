/** `node scripts/licences.ts`: fails for a package of the lock file whose licence is not permitted. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { licenceProblems } from './release/licences.ts'
import type { Lock } from './release/lock-file.ts'

const lock: Lock = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'),
)
const problems = licenceProblems(lock)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
