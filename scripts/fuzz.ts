/**
 * `npm run test:fuzz`: requests made up by schemathesis (PyPI) out of the API document, against a server of its own.
 * Nothing may be answered with 5xx or by anything but what the document says. Needs Python 3.10 or later.
 *
 * Arguments are those of `schemathesis run`, for example `--seed 1`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runPass } from './fuzz/pass.ts'
import { passes } from './fuzz/passes.ts'
import { installSchemathesis } from './fuzz/schemathesis.ts'
import { startFuzzedServer } from './fuzz/server.ts'

/** All passes together; they take two minutes on two cores. */
const limitMs = 300_000

await using started = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => started.disposeAsync().finally(() => process.exit(1)))
}
const folder = await mkdtemp(join(tmpdir(), 'postern-fuzz-'))
started.defer(() => rm(folder, { recursive: true, force: true }))
const schemathesis = await installSchemathesis(folder)
const server = await startFuzzedServer(started)
const signal = AbortSignal.timeout(limitMs)
const failed: string[] = []
for (const [name, pass] of Object.entries(passes)) {
  console.log(`\n${name}`)
  const options = await pass(server)
  const isGood = await runPass({ schemathesis, folder, server, options, signal })
  if (!isGood) failed.push(name)
}
if (signal.aborted) console.error(`not done within ${limitMs / 1000} s`)
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
