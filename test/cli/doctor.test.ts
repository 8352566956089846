/** `npm run doctor` as an operator runs it. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { run, usage } from '../../cli/doctor/index.ts'
import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { callCommand } from '../support/processes/command-call.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { build } from '../support/server.ts'

suite('npm run doctor', () => {
  test('exits with 0 and prints each check for a working deployment, as text and JSON', async (t) => {
    const mail = await startMailServer(t)
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const PORT = String(await freePort())
    const env = {
      ...mail.env,
      ...required,
      DATABASE_URL,
      PORT,
      AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${PORT}`,
    }
    await startServerProcess(t, env)

    const text = await doctor(t, env)
    assert.equal(text.code, 0, text.out + text.err)
    assert.match(text.out, /^pass {2}database +It is Postgres \d+\.$/m)
    assert.match(text.out, /^pass {2}outside +http:\S+jwks\.json can be reached from here\.$/m)
    assert.match(text.out, /\n\n\d+ passed, \d+ warnings, 0 failed\n$/)

    const { code, stdout } = await callCommand(run, ['--json', '--to', 'ann@ex.test'], env)
    assert.equal(code, 0)
    const { passed, warnings, failed, results } = JSON.parse(stdout)
    assert.equal(failed, 0)
    assert.equal(results.length, passed + warnings)
    for (const { check, level, sentence } of results) {
      assert.ok(check && /^(pass|warn)$/.test(level) && sentence.endsWith('.'), sentence)
    }
    assert.ok(results.some(({ sentence = '' }) => sentence.includes('to ann@ex.test')))
    assert.deepEqual(mail.messages, [])
  })

  test('exits with 1 when another server responds at the external URL', async (t) => {
    const { app: other } = await build(t)
    const url = await other.listen({ host: '127.0.0.1', port: 0 })
    const env = { ...required, AUTH_API_EXTERNAL_URL: url }
    const { database } = await build(t, { env })
    const { code, out } = await doctor(t, { ...env, DATABASE_URL: database.url })
    assert.equal(code, 1)
    assert.match(out, /^fail {2}outside .*another server responds there\.$/m)
  })

  test('prints configuration errors and runs no other check', async (t) => {
    const { code, out } = await doctor(t, { ...required, AUTH_JWT_EXP: 'soon' })
    assert.equal(code, 1)
    assert.match(out, /^fail {2}configuration {2}AUTH_JWT_EXP is "soon"; it must be .*\.$/m)
    assert.match(out, /^fail {2}configuration {2}DATABASE_URL is not set/m)
    assert.match(out, /^warn {2}configuration {2}Nothing else was checked/m)
    assert.match(
      out,
      /^warn .*start npm run dev in this folder.*docker compose exec postern node cli\.ts doctor\.$/m,
    )
    assert.doesNotMatch(out, /database {2}/)
  })

  for (const args of [['--fix'], ['--to'], ['mail']]) {
    test(`${args.join()}: prints the usage`, async (t) => {
      // cli.ts adds the usage to errors with such a code.
      await assert.rejects(run(args), { code: /^ERR_PARSE_ARGS_/ })
      assert.match(usage, /^npm run doctor /)
      if (args[0] !== '--fix') return
      const { code, err } = await doctor(t, required, ...args)
      assert.equal(code, 1)
      assert.ok(err.endsWith(`\n\nUsage:\n${usage}\n`))
    })
  }

  test('rejects a recipient that contains an SMTP command', async () => {
    const { code, stderr } = await callCommand(run, ['--to', 'a@b>\r\nDATA'], required)
    assert.deepEqual([code, stderr], [1, 'a@b>\r\nDATA is not an email address\n'])
  })
})

const required = {
  AUTH_DB_DRIVER: 'postgres',
  AUTH_SITE_URL: 'https://app.example',
  AUTH_API_EXTERNAL_URL: 'https://auth.example',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
  AUTH_ENCRYPTION_KEY: encryptionKey,
}

async function doctor(t: TestContext, env: Record<string, string>, ...args: string[]) {
  const cwd = temporaryFolder(t, 'doctor')
  const { written, ended } = startCli(t, ['doctor', ...args], { cwd, env })
  const code = await ended
  return { code, ...written }
}
