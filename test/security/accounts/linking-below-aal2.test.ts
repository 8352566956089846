/** Identities of a user with a second factor are linked and unlinked at aal2 only, whichever endpoint is used. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, verifiedProfile } from '../../support/external.ts'
import { addTotp, everyFactor, stepUp } from '../../support/factors/factors.ts'
import { idTokenServer } from '../../support/id-token-server.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import { bearer, statusAndCode } from '../../support/requests.ts'
import { confirmedUser, newAddress, signedIn, signUpUser } from '../../support/users.ts'

const env = {
  ...everyFactor,
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  AUTH_MAILER_AUTOCONFIRM: 'false',
}

suite('linking below aal2', () => {
  test('rejects /user/identities/authorize at aal1 when the user has a second factor', async (t) => {
    const { server, low: aal1, high: aal2 } = await start(t)
    const url = '/user/identities/authorize?provider=github'
    const rejected = await server.app.inject({ url, headers: bearer(aal1) })
    assert.deepEqual(statusAndCode(rejected), [401, 'insufficient_aal'])
    const allowed = await server.app.inject({ url, headers: bearer(aal2) })
    assert.equal(allowed.statusCode, 302, allowed.body)
  })

  test('rejects link_identity by an id_token at aal1 when the user has a second factor', async (t) => {
    const server = await idTokenServer(t, everyFactor)
    const user = await signUpUser(server.app)
    const aal2 = await stepUp(server.app, user, await addTotp(server.app, user))
    const aal1 = await signedIn(server.app, user.email)
    const rejected = await server.link(aal1.access_token)
    assert.deepEqual(statusAndCode(rejected), [401, 'insufficient_aal'])
    const linked = await server.link(aal2.access_token)
    assert.equal(linked.statusCode, 200, linked.body)
  })

  test('rejects unlinking at aal1 when the user has a second factor', async (t) => {
    const { server, low: aal1, high: aal2 } = await start(t)
    await link(server, aal2, 'github', verifiedProfile(newAddress('other'), nextId()))
    const github = identityId(await fetchUser(server, aal2), 'github')
    assert.deepEqual(statusAndCode(await unlink(server, aal1, github)), [401, 'insufficient_aal'])
    assert.equal((await unlink(server, aal2, github)).statusCode, 200)
  })
})

/** A user with a TOTP factor: a session at aal2 and a later one at aal1. */
async function start(t: Parameters<typeof externalServer>[0]) {
  const server = await externalServer(t, { env })
  const user = await confirmedUser(server)
  const aal2 = await stepUp(server.app, user, await addTotp(server.app, user))
  return { server, high: aal2, low: await signedIn(server.app, user.user.email ?? '') }
}
