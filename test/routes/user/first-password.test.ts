/** The email identity of a user who sets a first password. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { type ExternalServer, externalServer, verifiedProfile } from '../../support/external.ts'
import { changeUser } from '../../support/requests.ts'
import { newAddress } from '../../support/users.ts'

const variable = 'AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED'
const password = 'correct horse battery'

suite('a first password', () => {
  test('adds an email identity where the setting asks for it', async (t) => {
    const server = await externalServer(t, { env: { [variable]: 'true' } })
    const { email, id, token } = await signIn(server, '41')

    const changed = await changeUser(server.app, token, { password })
    assert.equal(changed.statusCode, 200, changed.body)
    await changeUser(server.app, token, { password: `${password} 2` })

    const added = await getIdentity(server, id)
    assert.equal(added.id, id)
    assert.deepEqual(added.identity_data, {
      sub: id,
      email,
      email_verified: true,
      phone_verified: false,
    })
    const { app_metadata } = (await asAdmin(server.app, 'GET', `/admin/users/${id}`)).json()
    assert.deepEqual(app_metadata.providers.toSorted(), ['email', 'github'])
  })

  test('of an admin adds it too, unverified for an address that was not verified', async (t) => {
    const env = { [variable]: 'true', AUTH_MAILER_AUTOCONFIRM: 'true' }
    const server = await externalServer(t, { env })
    const email = newAddress()
    await server.signInWith('github', { id: '42', emails: [{ email, verified: false }] })
    const row = await server.findUserBy({ provider: 'github', id: '42' })
    const id = row?.id ?? ''

    const changed = await asAdmin(server.app, 'PUT', `/admin/users/${id}`, { password })
    assert.equal(changed.statusCode, 200, changed.body)

    const { identity_data } = await getIdentity(server, id)
    assert.deepEqual([identity_data.email, identity_data.email_verified], [email, false])
  })

  test('adds none by default', async (t) => {
    const server = await externalServer(t)
    const { id, token } = await signIn(server, '43')
    assert.equal((await changeUser(server.app, token, { password })).statusCode, 200)
    const { identities } = (await asAdmin(server.app, 'GET', `/admin/users/${id}`)).json()
    assert.equal(identities.length, 1)
  })
})

async function signIn(server: ExternalServer, id: string) {
  const email = newAddress()
  const { fragment } = await server.signInWith('github', verifiedProfile(email, id))
  const row = await server.findUserBy({ provider: 'github', id })
  return { email, id: row?.id ?? '', token: fragment.access_token ?? '' }
}

interface Identity {
  provider: string
  /** Of the provider. */
  id: string
  identity_data: Record<string, unknown>
}

async function getIdentity(server: ExternalServer, id: string): Promise<Identity> {
  const { identities } = (await asAdmin(server.app, 'GET', `/admin/users/${id}`)).json<{
    identities: Identity[]
  }>()
  const [found, ...others] = identities.filter(({ provider }) => provider === 'email')
  assert.ok(found)
  assert.equal(others.length, 0)
  return found
}
