/** A TypeScript client generated from the API document by openapi-typescript: its types are checked, and it is run. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { openapiText } from '../../cli/openapi.ts'
import { serviceRole } from '../support/processes/server-process.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { build } from '../support/server.ts'
import { installs } from './script.ts'

const files = join(import.meta.dirname, 'openapi')
const root = join(import.meta.dirname, '../..')

/** For the generated types and the program that uses them. */
const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'nodenext',
  target: 'esnext',
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
}

/** Calls rejected by the types: a missing resend type and an unknown grant. */
const wrong = `import type { paths } from './api.d.ts'
import createClient from 'openapi-fetch'
void createClient<paths>().POST('/resend', { body: { email: 'ann@example.com' } })
void createClient<paths>().POST('/token', { params: { query: { grant_type: 'x' } }, body: {} })
`

suite('client generated from the OpenAPI document', () => {
  test('has types that match the responses', async (t) => {
    const folder = temporaryFolder(t, 'openapi')
    copyFileSync(join(files, 'package.json'), join(folder, 'package.json'))
    copyFileSync(join(files, 'journey.ts'), join(folder, 'journey.ts'))
    writeFileSync(join(folder, 'openapi.json'), await openapiText())
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    writeFileSync(join(folder, 'wrong.ts'), wrong)
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
    if (!installs(t, 'npm', ['install', ...quiet], folder)) return

    const generator = join(folder, 'node_modules/openapi-typescript/bin/cli.js')
    execFileSync(process.execPath, [generator, 'openapi.json', '-o', 'api.d.ts'], { cwd: folder })
    assert.deepEqual(typeErrors(folder), ['wrong.ts(3', 'wrong.ts(4'])

    const { app } = await build(t)
    const SERVER = await app.listen({ host: '127.0.0.1', port: 0 })
    const env = { ...process.env, SERVER, SERVICE_KEY: await serviceRole() }
    const child = spawn(process.execPath, ['journey.ts'], { cwd: folder, env, stdio: 'inherit' })
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(code, 0)
  })
})

/** File and line of each. */
function typeErrors(folder: string): string[] {
  const options = { cwd: folder, encoding: 'utf8' } as const
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--pretty', 'false'], options)
  return [...stdout.matchAll(/^(\S+\(\d+),\d+\): error/gm)].map(([, place = '']) => place)
}
