/** The scope `profile` tells the name of the user, and neither the address nor the number. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  basic,
  createClient,
  decodeClaims,
  ownConsentPage,
  postForm,
  signInClient,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

/** Everything that a client with these scopes can read. */
async function readAll(app: App, user: { access_token: string }, scope: string) {
  const client = await createClient(app)
  const tokens = await signInClient(app, client, user, { scope })
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const userinfo = (await app.inject({ url: '/oauth/userinfo', headers })).json()
  const introspected = await Promise.all(
    [tokens.access_token, tokens.refresh_token].map(async (token) =>
      (await postForm(app, '/oauth/introspect', { token }, basic(client))).json(),
    ),
  )
  const idToken = decodeClaims(tokens.id_token ?? '')
  return { access: decodeClaims(tokens.access_token), idToken, userinfo, introspected }
}

suite('the scope profile', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(ownConsentPage)).app

  test('does not tell the address of a user without a name', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const read = await readAll(app, user, 'openid profile')
    assert.ok(!JSON.stringify(read).includes(user.email), JSON.stringify(read))
    assert.equal(read.userinfo.name, undefined)
    const named = await readAll(app, user, 'openid profile email')
    assert.deepEqual([named.userinfo.name, named.idToken.name], [user.email, user.email])
    assert.equal(named.introspected[0].username, user.email)
  })

  test('does not tell an address or number in the metadata, at any depth', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const other = 'Ann.Lee@Other.example'
    const data = {
      name: user.email.toUpperCase(),
      full_name: 'Ann Lee',
      preferred_username: other,
      nickname: `Ann <${user.email}>`,
      website: `https://me.example/?u=${encodeURIComponent(user.email)}`,
      picture: 'https://social.example/@ann.lee/picture.png',
      email: user.email,
      phone: '15551234567',
      custom_claims: { email: other, upn: other, verified_email: true, tid: 't1' },
      accounts: [other, { mail: other, label: 'kept' }],
      address: { locality: 'Springfield' },
    }
    assert.equal((await changeUser(app, user.access_token, { data })).statusCode, 200)
    const read = await readAll(app, user, 'openid profile')
    const text = JSON.stringify(read).toLowerCase()
    for (const hidden of [user.email, 'other.example', '15551234567', 'springfield', '%40']) {
      assert.ok(!text.includes(hidden), `${hidden} in ${text}`)
    }
    assert.deepEqual([read.userinfo.name, read.idToken.name], ['Ann Lee', 'Ann Lee'])
    const { custom_claims, accounts, picture } = read.userinfo.user_metadata
    assert.deepEqual([custom_claims, accounts], [{ tid: 't1' }, [{ label: 'kept' }]])
    assert.equal(picture, data.picture)
    const shared = await readAll(app, user, 'openid profile email address')
    assert.equal(shared.userinfo.user_metadata.email, user.email)
    assert.equal(shared.userinfo.preferred_username, other)
    assert.deepEqual(shared.userinfo.user_metadata.address, data.address)
  })

  test('leaves the token of the user as it is', async () => {
    const app = await server()
    const user = await signUpUser(app)
    const data = { email: 'x@other.example', phone: '1555' }
    await changeUser(app, user.access_token, { data })
    const body = { refresh_token: user.refresh_token }
    const refreshed = await call(app, '/token?grant_type=refresh_token', body)
    const { user_metadata } = decodeClaims(refreshed.json().access_token)
    assert.deepEqual(Object(user_metadata).email, data.email)
  })
})
