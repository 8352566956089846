/** The passkey API of the published client SDK, over HTTP: its two-step methods, as apps without a browser use them. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthClient, GoTrueAdminApi } from '@supabase/auth-js'

import { newDevice, passkeysOn } from '../support/factors/passkeys.ts'
import { build } from '../support/server.ts'
import { adminToken, newAddress, password } from '../support/users.ts'

suite('passkeys by SDK', () => {
  test('startRegistration, verifyRegistration, startAuthentication, verifyAuthentication', async (t) => {
    const { client, other } = await listen(t)
    const email = newAddress()
    const signedUp = await client.signUp({ email, password })
    const userId = signedUp.data.user?.id ?? ''
    const device = newDevice({ aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd' })

    const requested = await client.passkey.startRegistration()
    assert.equal(requested.error, null)
    const { challenge_id: challengeId, options } = requested.data ?? assert.fail()
    const credential = device.create(options)
    const added = await client.passkey.verifyRegistration({ challengeId, credential })
    assert.equal(added.error, null)
    assert.equal(added.data?.friendly_name, 'Apple Passwords')

    const start = await other.passkey.startAuthentication()
    assert.equal(start.error, null)
    const response = device.get(start.data?.options ?? assert.fail())
    const question = start.data?.challenge_id ?? ''
    const signedIn = await other.passkey.verifyAuthentication({
      challengeId: question,
      credential: { ...response, response: { ...response.response, userHandle: handle(response) } },
    })
    assert.equal(signedIn.error, null)
    assert.equal(signedIn.data?.user?.id, userId)
    assert.equal((await other.getUser()).data.user?.email, email)
    const levels = await other.mfa.getAuthenticatorAssuranceLevel()
    assert.equal(levels.data?.currentLevel, 'aal1')
    assert.deepEqual(
      levels.data?.currentAuthenticationMethods.map((entry) =>
        typeof entry === 'string' ? entry : entry.method,
      ),
      ['passkey'],
    )
    assert.equal((await other.refreshSession()).error, null)

    const replayed = await other.passkey.verifyAuthentication({
      challengeId: question,
      credential: { ...response, response: { ...response.response, userHandle: handle(response) } },
    })
    assert.equal(replayed.error?.code, 'webauthn_challenge_not_found')
  })

  test('list, update and delete, and listPasskeys and deletePasskey of the admin API', async (t) => {
    const { client, admin } = await listen(t)
    const signedUp = await client.signUp({ email: newAddress(), password })
    const userId = signedUp.data.user?.id ?? ''
    const ids: string[] = []
    for (const _ of [1, 2]) {
      const { data } = await client.passkey.startRegistration()
      const { challenge_id: challengeId, options } = data ?? assert.fail()
      const credential = newDevice().create(options)
      const added = await client.passkey.verifyRegistration({ challengeId, credential })
      ids.push(added.data?.id ?? '')
    }
    const [first = '', second = ''] = ids
    const listed = await client.passkey.list()
    assert.deepEqual(
      listed.data?.map(({ id }) => id),
      ids,
    )
    const renamed = await client.passkey.update({ passkeyId: first, friendlyName: 'Mine' })
    assert.equal(renamed.data?.friendly_name, 'Mine')
    assert.equal((await client.passkey.delete({ passkeyId: first })).error, null)
    const again = await client.passkey.delete({ passkeyId: first })
    assert.equal(again.error?.code, 'validation_failed')

    const left = await admin.passkey.listPasskeys({ userId })
    assert.deepEqual(
      left.data?.map(({ id }) => id),
      [second],
    )
    const removed = await admin.passkey.deletePasskey({ userId, passkeyId: second })
    assert.equal(removed.error, null)
    assert.deepEqual((await client.passkey.list()).data, [])
  })

  test('report passkey_disabled when disabled', async (t) => {
    const { client } = await listen(t, { AUTH_PASSKEY_ENABLED: 'false' })
    const { error } = await client.passkey.startAuthentication()
    assert.equal(error?.code, 'passkey_disabled')
  })
})

/** The SDK requires a string where the form allows none. */
const handle = ({ response }: ReturnType<ReturnType<typeof newDevice>['get']>) =>
  response.userHandle ?? ''

async function listen(t: TestContext, env: Record<string, string> = {}) {
  const { app } = await build(t, { env: { ...passkeysOn, ...env } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const experimental = { passkey: true }
  const newClient = () => {
    const client = new AuthClient({ url, experimental, autoRefreshToken: false })
    t.after(() => client.stopAutoRefresh())
    return client
  }
  const headers = { Authorization: `Bearer ${await adminToken(app)}` }
  const admin = new GoTrueAdminApi({ url, headers, experimental })
  return { client: newClient(), other: newClient(), admin }
}
