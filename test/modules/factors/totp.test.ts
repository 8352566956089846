/** Authenticator apps over HTTP: enrollment, challenge, verification, removal. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { URI } from 'otpauth'

import { assertExpiresAfter } from '../../support/factors/expiry.ts'
import {
  addTotp,
  challenge,
  type Enrolled,
  everyFactor,
  request,
  send,
  stepUp,
  tokenClaims,
  userWithTotp,
  verifyChallenge,
  wrongCode,
} from '../../support/factors/factors.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { signedIn, signUpUser } from '../../support/users.ts'

suite('TOTP factor', () => {
  const serverFor = serversOnOneDatabase()

  test('is enrolled with secret, URI and QR code', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const payload = { factor_type: 'totp', friendly_name: 'My phone', issuer: 'The app: Ä' }
    const enrolled = await request<Enrolled>(app, 'POST', '/factors', user, payload)
    const { secret, uri, qr_code } = enrolled.totp ?? assert.fail()

    assert.deepEqual([enrolled.type, enrolled.friendly_name], ['totp', 'My phone'])
    assert.match(secret, /^[A-Z2-7]{32}$/)
    const issuer = 'The%20app:%20%C3%84'
    assert.equal(
      uri,
      `otpauth://totp/${issuer}:${user.email}?algorithm=SHA1&digits=6&issuer=${issuer}&period=30&secret=${secret}`,
    )
    assert.equal(URI.parse(uri).secret.base32, secret)
    assert.match(qr_code, /^<svg width="\d+" height="\d+" xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    assert.ok(!qr_code.includes('#'))
    assert.ok(qr_code.length < 60_000, `${qr_code.length}`)
  })

  test('uses the site’s host and port as default issuer', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_SITE_URL: 'http://localhost:3000/x' })
    const user = await signUpUser(app)
    const { totp } = await request<Enrolled>(app, 'POST', '/factors', user, { factor_type: 'totp' })
    assert.ok(totp?.uri.startsWith(`otpauth://totp/localhost:3000:${user.email}?`))
  })

  test('generates a QR code for the longest name and issuer', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const local = '+'.repeat(240)
    await app.pool.query('update auth.users set email = $1 where id = $2', [
      `${local}@example.com`,
      user.user.id,
    ])
    const payload = { factor_type: 'totp', issuer: '😀'.repeat(32) }
    const { totp } = await request<Enrolled>(app, 'POST', '/factors', user, payload)
    assert.ok(totp?.qr_code.startsWith('<svg '))
  })

  test('steps up the session and issues new tokens', async () => {
    const { app } = await serverFor(everyFactor)
    const before = await signUpUser(app)
    const factor = await addTotp(app, before, 'My phone')
    const since = Date.now()
    const pending = await challenge(app, before, factor.id)
    assert.equal(pending.type, 'totp')
    assertExpiresAfter(300, pending.expires_at, since)

    const code = factor.code()
    const body = { challenge_id: pending.id, code: `${code.slice(0, 3)} ${code.slice(3)}` }
    const response = await verifyChallenge(app, before, factor.id, body)
    assert.equal(response.statusCode, 200, response.body)
    const session = response.json()

    const [old, steppedUp] = [tokenClaims(before), tokenClaims(session)]
    assert.deepEqual([old.aal, steppedUp.aal], ['aal1', 'aal2'])
    assert.equal(steppedUp.session_id, old.session_id)
    assert.deepEqual(
      steppedUp.amr.map(({ method }) => method),
      ['totp', 'password'],
    )
    assert.equal(session.token_type, 'bearer')
    const [listed] = session.user.factors
    assert.deepEqual([listed.id, listed.status, listed.phone], [factor.id, 'verified', ''])
    assert.ok(listed.last_challenged_at)
    const { rows } = await app.pool.query('select * from auth.sessions where id = $1', [
      steppedUp.session_id,
    ])
    assert.deepEqual([rows[0].aal, rows[0].factor_id], ['aal2', factor.id])
    assert.equal(Number(rows[0].refresh_token_counter), 2)
    const next = await refresh(app, session.refresh_token)
    assert.equal(tokenClaims(next.json()).aal, 'aal2')
  })

  test('accepts the previous refresh token as parent within the reuse interval', async () => {
    const { app } = await serverFor(everyFactor)
    const { before, session } = await userWithTotp(app)
    const again = await refresh(app, before.refresh_token)
    assert.equal(again.statusCode, 200, again.body)
    assert.equal(again.json().refresh_token, session.refresh_token)
    assert.equal(tokenClaims(again.json()).aal, 'aal2')
    const { refresh_token } = (await refresh(app, session.refresh_token)).json()
    assert.deepEqual(statusAndCode(await refresh(app, before.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
    assert.deepEqual(statusAndCode(await refresh(app, refresh_token)), [
      400,
      'refresh_token_not_found',
    ])
  })

  test('revokes the session when the previous refresh token is reused after the reuse interval', async () => {
    const { app } = await serverFor(everyFactor)
    const { before, session } = await userWithTotp(app)
    await app.pool.query(
      `update auth.sessions set refreshed_at = refreshed_at - interval '11 s' where id = $1`,
      [tokenClaims(session).session_id],
    )
    assert.deepEqual(statusAndCode(await refresh(app, before.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
    assert.deepEqual(statusAndCode(await getUser(app, session)), [403, 'session_not_found'])
  })

  test('revokes other sessions below aal2 at each verification', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, factor, session } = await userWithTotp(app)
    const [second, third] = [await signedIn(app, email), await signedIn(app, email)]
    const steppedUp = await stepUp(app, second, factor, 1)
    assert.deepEqual(statusAndCode(await getUser(app, third)), [403, 'session_not_found'])
    assert.deepEqual(statusAndCode(await refresh(app, third.refresh_token)), [
      400,
      'refresh_token_not_found',
    ])
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal((await getUser(app, steppedUp)).statusCode, 200)
  })

  test('removes other unverified factors of the type', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    await addTotp(app, user, 'abandoned')
    const phone = { factor_type: 'phone', friendly_name: 'another kind', phone: '+15550107' }
    await request<Enrolled>(app, 'POST', '/factors', user, phone)
    const session = await stepUp(app, user, await addTotp(app, user, 'finished'))
    assert.deepEqual(
      session.user.factors?.map(({ friendly_name }) => friendly_name),
      ['another kind', 'finished'],
    )
  })

  test('keeps the challenge valid after a wrong code', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id, secret, code } = await addTotp(app, user)
    const { id: challenge_id } = await challenge(app, user, id)
    const wrong = await verifyChallenge(app, user, id, { challenge_id, code: wrongCode(secret) })
    assert.deepEqual(statusAndCode(wrong), [422, 'mfa_verification_failed'])
    assert.equal(wrong.json().msg, 'Invalid TOTP code entered')
    assert.equal(tokenClaims((await refresh(app, user.refresh_token)).json()).aal, 'aal1')
    const right = await verifyChallenge(app, user, id, { challenge_id, code: code() })
    assert.equal(right.statusCode, 200, right.body)
  })

  for (const code of ['１２３４５６', '٠١٢٣٤٥', 'äöüäöü', '-1e003', '😀😀😀']) {
    test(`rejects the code ${code}`, async () => {
      const { app } = await serverFor(everyFactor)
      const user = await signUpUser(app)
      const { id } = await addTotp(app, user)
      const { id: challenge_id } = await challenge(app, user, id)
      const wrong = await verifyChallenge(app, user, id, { challenge_id, code })
      assert.deepEqual(statusAndCode(wrong), [422, 'mfa_verification_failed'])
    })
  }

  test('accepts a code one step early or late only', async () => {
    const { app } = await serverFor(everyFactor)
    for (const away of [-1, 1]) {
      const user = await signUpUser(app)
      const factor = await addTotp(app, user)
      const { id: challenge_id } = await challenge(app, user, factor.id)
      const verification = { challenge_id, code: factor.code(-2) }
      assert.equal((await verifyChallenge(app, user, factor.id, verification)).statusCode, 422)
      await stepUp(app, user, factor, away)
    }
  })

  test('rounds verification times down to the second', async () => {
    const { app } = await serverFor(everyFactor)
    const { session } = await userWithTotp(app)
    await app.pool.query(
      `update auth.mfa_amr_claims set updated_at = '2026-01-01T00:00:00.9Z' where session_id = $1`,
      [tokenClaims(session).session_id],
    )
    const { amr } = tokenClaims((await refresh(app, session.refresh_token)).json())
    const begun = Date.parse('2026-01-01T00:00:00Z') / 1000
    assert.deepEqual(
      amr.map(({ timestamp }) => timestamp),
      [begun, begun],
    )
  })

  test('is removed at aal2 and lowers the session at its next refresh', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const removed = await request(app, 'DELETE', `/factors/${factor.id}`, session)
    assert.deepEqual(removed, { id: factor.id })
    assert.equal((await getUser(app, session)).json().factors, undefined)
    const next = (await refresh(app, session.refresh_token)).json()
    const { aal, amr } = tokenClaims(next)
    assert.deepEqual([aal, amr.map(({ method }) => method)], ['aal1', ['password']])
  })

  test('does not lower a session stepped up by another factor', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, session, factor } = await userWithTotp(app)
    const second = await addTotp(app, session, 'second')
    const steppedDown = await stepUp(app, session, second)
    const other = await stepUp(app, await signedIn(app, email), factor, 1)
    await request(app, 'DELETE', `/factors/${second.id}`, other)
    const levels = [steppedDown, other].map(async ({ refresh_token }) => {
      return tokenClaims((await refresh(app, refresh_token)).json()).aal
    })
    assert.deepEqual(await Promise.all(levels), ['aal1', 'aal2'])
  })

  test('is removed at aal1 while unverified', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = await addTotp(app, user)
    await request(app, 'DELETE', `/factors/${id}`, user)
    assert.deepEqual(statusAndCode(await send(app, 'DELETE', `/factors/${id}`, user)), [
      404,
      'mfa_factor_not_found',
    ])
  })
})
