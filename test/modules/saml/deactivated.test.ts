/** Sign-ins of a user who is linked to a provider, has an address of their own, and was deactivated by SCIM. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall } from '../../support/admin.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { call, getUser, refresh } from '../../support/requests.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, begin, type Known, post, samlOn } from '../../support/saml/server.ts'
import {
  activate,
  deactivate,
  findScimAccount,
  newClient,
  newOrganization,
  scimOn,
} from '../../support/scim/clients.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, password, signedIn } from '../../support/users.ts'

const corporate = 'ann@corp.test'
const own = 'ann@home.test'

async function postSignOn(app: App, { idp, id }: Known, body: object = {}) {
  const { relayState, requestId } = await begin(app, { provider_id: id, ...body })
  const attributes = { email: [corporate] }
  return post(app, signedResponse({ idp, requestId, nameId: corporate, attributes }), relayState)
}

/** Linked by the corporate address, which `move` then replaces by another one. */
async function linkedUser(t: Ending) {
  const { app } = await build(t, { env: { ...scimOn, ...samlOn } })
  const organization_id = await newOrganization(app, 'corp.test')
  const idp = await addIdp(app)
  const client = await newClient(app, { organization_id, sso_provider_id: idp.id })
  const { id } = await adminCreatedUser(app, { email: corporate, password, email_confirm: true })
  const user = await client.create({ userName: corporate, emails: [{ value: corporate }] })
  assert.equal((await findScimAccount(app, user.id)).user_id, id)
  const move = (email: string) =>
    adminCall(app, 'PUT', `/admin/users/${id}`, { email, email_confirm: true })
  return { app, idp, client, move, path: `/Users/${user.id}` }
}

suite('SCIM-deactivated user with a separate email', () => {
  test('loses the provider’s sessions and cannot sign in through it until reactivated', async (t) => {
    const { app, idp, client, move, path } = await linkedUser(t)
    const { refresh_token = '' } = (await postSignOn(app, idp)).fragment
    await move(own)
    const session = await signedIn(app, own)
    assert.equal((await client.patch(path, deactivate)).statusCode, 200)
    assert.notEqual((await refresh(app, refresh_token)).statusCode, 200)
    assert.equal((await getUser(app, session)).statusCode, 200)
    await move(corporate)
    const { query, fragment } = await postSignOn(app, idp)
    assert.equal({ ...query, ...fragment }.error_code, 'user_deactivated')
    assert.equal((await client.patch(path, activate)).statusCode, 200)
    assert.ok((await postSignOn(app, idp)).fragment.refresh_token)
  })

  test('cannot exchange a code that the provider sign-in issued before the deactivation', async (t) => {
    const { app, idp, client, move, path } = await linkedUser(t)
    const code_challenge = 'x'.repeat(43)
    const pkce = { code_challenge, code_challenge_method: 'plain' }
    const { query } = await postSignOn(app, idp, pkce)
    assert.ok(query.code)
    await move(own)
    await client.patch(path, deactivate)
    const exchange = { auth_code: query.code, code_verifier: code_challenge }
    assert.equal((await call(app, '/token?grant_type=pkce', exchange)).statusCode, 404)
  })
})

suite('user whom SCIM deletes without a deactivation', () => {
  test('loses the provider’s sessions and codes, and keeps the account with its other sessions', async (t) => {
    const { app, idp, client, move, path } = await linkedUser(t)
    const { refresh_token = '' } = (await postSignOn(app, idp)).fragment
    const code_challenge = 'x'.repeat(43)
    const pkce = { code_challenge, code_challenge_method: 'plain' }
    const { query } = await postSignOn(app, idp, pkce)
    await move(own)
    const session = await signedIn(app, own)
    assert.equal((await client.send('DELETE', path)).statusCode, 204)
    assert.notEqual((await refresh(app, refresh_token)).statusCode, 200)
    const exchange = { auth_code: query.code, code_verifier: code_challenge }
    assert.equal((await call(app, '/token?grant_type=pkce', exchange)).statusCode, 404)
    assert.equal((await getUser(app, session)).statusCode, 200)
  })

  test('loses the provider’s sessions also of an account that SCIM created and that is kept', async (t) => {
    const { app } = await build(t, { env: { ...scimOn, ...samlOn } })
    const organization_id = await newOrganization(app, 'corp.test')
    const idp = await addIdp(app)
    const client = await newClient(app, { organization_id, sso_provider_id: idp.id })
    const user = await client.create({ userName: corporate, emails: [{ value: corporate }] })
    const { user_id } = await findScimAccount(app, user.id)
    await adminCall(app, 'PUT', `/admin/users/${user_id}`, { password })
    const { refresh_token = '' } = (await postSignOn(app, idp)).fragment
    assert.equal((await client.send('DELETE', `/Users/${user.id}`)).statusCode, 204)
    assert.ok(await adminCall(app, 'GET', `/admin/users/${user_id}`))
    assert.notEqual((await refresh(app, refresh_token)).statusCode, 200)
  })
})
