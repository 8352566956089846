/** scim2-tester, a compliance test of SCIM servers, from the Python package index. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { newClient, newOrganization, scimOn } from '../support/scim/clients.ts'
import { build } from '../support/server.ts'
import { installs, missing } from './script.ts'

const packages = ['scim2-tester>=0.5.2,<0.6', 'scim2-cli>=0.6,<0.7']

suite('scim2-tester', { skip: missing('python3', '-c', 'import ensurepip, venv') }, () => {
  test('finds no error in discovery, users and groups', async (t) => {
    const program = install(t)
    if (!program) return
    const base = await listeningServer(t)
    const env = { ...process.env, SCIM_CLI_HEADERS: `Authorization: Bearer ${base.token}` }
    const run = promisify(execFile)(program, ['-u', base.url, 'test'], { env, maxBuffer: 2 ** 26 })
    const { stdout } = await run.catch((error) => error)
    const lines = String(stdout).split('\n')
    const results = lines.filter((line) =>
      /^\s*(SUCCESS|ERROR|CRITICAL|SKIPPED|DEVIATION|COMPLIANT|ACCEPTABLE)\b/.test(line),
    )
    const errors = results.filter((line) => /^\s*(ERROR|CRITICAL|DEVIATION)\b/.test(line))
    assert.deepEqual(errors, [], stdout)
    assert.ok(results.length > 20, stdout)
  })
})

function install(t: TestContext): string | undefined {
  const folder = temporaryFolder(t, 'scim')
  execFileSync('python3', ['-m', 'venv', folder])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  const isInstalled = installs(t, join(folder, 'bin/python'), [...pip, ...packages])
  return isInstalled ? join(folder, 'bin/scim2') : undefined
}

/** The client downloads the schemas from where the server says that it is. */
async function listeningServer(t: TestContext) {
  const { app } = await build(t, { env: scimOn })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = Object(app.server.address())
  app.config.AUTH_API_EXTERNAL_URL = `http://127.0.0.1:${port}`
  const organization_id = await newOrganization(app, 'corp.test')
  const { connection, token } = await newClient(app, { organization_id })
  return { url: `http://127.0.0.1:${port}/scim/v2/${connection.id}`, token }
}
