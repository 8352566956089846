/** `npm run sso` next to a running server. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { run } from '../../cli/sso.ts'
import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { createIdp } from '../support/saml/idp.ts'
import { begin, samlOn } from '../support/saml/server.ts'
import { build } from '../support/server.ts'

suite('npm run sso', () => {
  test('adds a provider that a running server uses immediately, and shows, lists and removes it', async (t) => {
    const database = await cloneDatabase()
    const { app } = await build(t, { database, env: samlOn })
    const env = {
      ...commandEnvironment,
      AUTH_ENCRYPTION_KEY: encryptionKey,
      DATABASE_URL: database.url,
    }
    const command = (...args: string[]) => callCommand(run, args, env)
    const idp = createIdp()
    const file = join(temporaryFolder(t, 'sso'), 'metadata.xml')
    await writeFile(file, idp.metadata)
    const added = await command('add', file, 'Corp.example')
    assert.equal(added.code, 0, added.stderr)
    const [id = ''] = added.stdout.split(' ')
    const { url } = await begin(app, { domain: 'corp.example' })
    assert.ok(url.href.startsWith(idp.entityId))
    assert.equal((await command('list')).stdout, `${id}  enabled  ${idp.entityId}  corp.example\n`)
    assert.equal(JSON.parse((await command('show', id)).stdout).saml.entity_id, idp.entityId)
    const twice = await command('add', file)
    assert.deepEqual([twice.code, /already has this EntityID/.test(twice.stderr)], [1, true])
    assert.equal((await command('remove', id)).code, 0)
    assert.equal((await command('list')).stdout, 'There is no SSO provider.\n')
    for (const args of [['show', id], ['remove', 'resource_x'], ['add'], ['list', 'x'], ['x']]) {
      assert.equal((await command(...args)).code, 1, args.join(' '))
    }
  })
})
