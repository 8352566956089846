/** `npm run providers -- list|show|add|remove` next to a running server. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { run } from '../../../cli/providers.ts'
import { encryptionKey } from '../../support/config.ts'
import { authorizeUrl, oauth2Input } from '../../support/custom-providers/requests.ts'
import { cloneDatabase } from '../../support/database.ts'
import { callCommand, commandEnvironment } from '../../support/processes/command-call.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { build } from '../../support/server.ts'

const input = {
  ...oauth2Input('https://id.example'),
  authorization_url: 'https://192.0.2.1/authorize',
}
const urls = { token_url: 'https://8.8.8.8/token', userinfo_url: 'https://8.8.8.8/userinfo' }
const usable = { ...input, ...urls, authorization_url: 'https://8.8.8.8/authorize' }

suite('npm run providers', () => {
  test('adds a provider that a running server uses immediately, and shows, lists and removes it', async (t) => {
    const database = await cloneDatabase()
    const { app } = await build(t, { database })
    const command = commandOn(database.url)
    const file = join(temporaryFolder(t, 'providers'), 'provider.json')
    await writeFile(file, JSON.stringify(usable))
    const added = await command('add', file)
    assert.equal(added.code, 0, added.stderr)
    assert.equal((await authorizeUrl(app, 'custom:plain')).host, '8.8.8.8')
    assert.match((await command('list')).stdout, /^custom:plain {2}oauth2 {2}enabled {2}Plain\n$/)
    const shown = (await command('show', 'custom:plain')).stdout
    assert.equal(JSON.parse(shown).token_url, usable.token_url)
    assert.ok(!shown.includes(usable.client_secret))
    assert.equal((await command('remove', 'custom:plain')).code, 0)
    assert.equal((await command('list')).stdout, 'No provider was added at run time.\n')
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    assert.deepEqual(
      rows.map(({ payload }) => [payload.action, payload.actor_username]),
      [
        ['custom_provider_created', 'npm run providers'],
        ['custom_provider_deleted', 'npm run providers'],
      ],
    )
  })

  test('exits with 1 and an explanation for invalid and unknown providers', async (t) => {
    const database = await cloneDatabase(t)
    const command = commandOn(database.url)
    const file = join(temporaryFolder(t, 'providers'), 'provider.json')
    for (const [content, sentence] of [
      ['{', /is not JSON/],
      ['{"scopes":"read"}', /scopes/],
      [JSON.stringify(input), /authorization_url must be the URL of a host with a public address/],
      ['{"provider_type":"saml"}', /provider_type must be oauth2 or oidc/],
    ] as const) {
      await writeFile(file, content)
      const { code, stderr } = await command('add', file)
      assert.equal(code, 1, content)
      assert.match(stderr, sentence)
    }
    assert.match((await command('show', 'custom:x')).stderr, /There is no provider custom:x/)
    assert.equal((await command('remove', 'custom:x')).code, 1)
    assert.match((await command('add')).stderr, /Usage/)
  })
})

const commandOn =
  (url: string) =>
  (...args: string[]) =>
    callCommand(run, args, {
      ...commandEnvironment,
      AUTH_ENCRYPTION_KEY: encryptionKey,
      DATABASE_URL: url,
    })
