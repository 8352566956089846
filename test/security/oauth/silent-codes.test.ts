/**
 * A copied access token of an old session gets no code by an earlier consent: the code of a public client is exchanged
 * by any program that reads it, for tokens that outlive the copied one.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import {
  createClient,
  exchangeCode,
  makePkce,
  oauthServer,
  ownConsentPage,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { password, signUpUser } from '../../support/users.ts'

/** Clients that get a code without the user's answer, where this server has no page for it. */
const withSecret = { 'a confidential client': {} }
const withoutSecret = { 'a public client': { token_endpoint_auth_method: 'none' } }
const servers = {
  'the pages of this server': { env: oauthServer, asked: { ...withSecret, ...withoutSecret } },
  "the operator's page": { env: ownConsentPage, asked: withoutSecret },
}

suite('an earlier consent', () => {
  const serverFor = sharedServers()

  for (const [pages, { env, asked }] of Object.entries(servers)) {
    for (const [name, fields] of Object.entries(asked)) {
      test(`gives ${name} no code for a session of three days ago: ${pages}`, async () => {
        const { app } = await serverFor(env)
        const { user, read } = await consented(app, fields)
        await age(app)
        const { id, body } = await read()
        assert.equal(body.redirect_url, undefined)
        const url = `/oauth/authorizations/${id}/consent`
        const approve = () => call(app, url, { action: 'approve' }, { token: user.access_token })
        assert.deepEqual(statusAndCode(await approve()), [400, 'reauthentication_needed'])
        await changeUser(app, user.access_token, { current_password: password })
        assert.equal((await approve()).statusCode, 200)
        assert.ok((await read()).body.redirect_url)
      })

      test(`gives ${name} a code after a recent sign-in: ${pages}`, async () => {
        const { app } = await serverFor(env)
        const { client, read } = await consented(app, fields)
        const { body, verifier: code_verifier } = await read()
        const code = new URL(body.redirect_url ?? '').searchParams.get('code') ?? ''
        const exchanged = await exchangeCode(app, client, code, { code_verifier })
        assert.equal(exchanged.statusCode, 200, exchanged.body)
      })
    }
  }

  test("gives a client with a secret a code for a session of any age at the operator's page", async () => {
    const { app } = await serverFor(ownConsentPage)
    const { read } = await consented(app, {})
    await age(app)
    assert.ok((await read()).body.redirect_url)
  })
})

/** A user who has given the client access, and the next request of the client. */
async function consented(app: App, fields: object) {
  const user = await signUpUser(app)
  const client = await createClient(app, fields)
  await signInClient(app, client, user)
  const read = async () => {
    const { verifier, challenge: code_challenge } = makePkce()
    const pkce = { code_challenge, code_challenge_method: 'S256' }
    const id = await startAuthorization(app, client, pkce)
    const url = `/oauth/authorizations/${id}`
    const details = await call(app, url, undefined, { token: user.access_token })
    assert.equal(details.statusCode, 200, details.body)
    return { id, verifier, body: details.json<{ redirect_url?: string }>() }
  }
  return { user, client, read }
}

async function age({ pool }: App): Promise<void> {
  const earlier = "created_at = created_at - interval '3 days'"
  await pool.query(
    `update auth.mfa_amr_claims set updated_at = updated_at - interval '3 days', ${earlier}`,
  )
  await pool.query(`update auth.sessions set ${earlier}`)
}
