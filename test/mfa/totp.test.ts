/** Authenticator apps over HTTP: enrolling, challenging, proving, removing. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { URI } from 'otpauth'

import {
  addTotp,
  answer,
  ask,
  challenge,
  claimsOf,
  type Enrolled,
  everyFactor,
  guarded,
  prove,
  send,
  wrongCode,
} from '../support/factors.ts'
import { newPerson, signedIn } from '../support/people.ts'
import { getUser, outcomeOf, refresh } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('an authenticator app', () => {
  const serverFor = sharedServers()

  test('is enrolled with a secret, a link and a picture that fit', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const payload = { factor_type: 'totp', friendly_name: 'My phone', issuer: 'The app: Ä' }
    const enrolled = await ask<Enrolled>(app, 'POST', '/factors', person, payload)
    const { secret, uri, qr_code } = enrolled.totp ?? assert.fail()

    assert.deepEqual([enrolled.type, enrolled.friendly_name], ['totp', 'My phone'])
    assert.match(secret, /^[A-Z2-7]{32}$/)
    const issuer = 'The%20app:%20%C3%84'
    assert.equal(
      uri,
      `otpauth://totp/${issuer}:${person.email}?algorithm=SHA1&digits=6&issuer=${issuer}&period=30&secret=${secret}`,
    )
    assert.equal(URI.parse(uri).secret.base32, secret)
    assert.match(qr_code, /^<svg width="\d+" height="\d+" xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    assert.ok(!qr_code.includes('#'))
    assert.ok(qr_code.length < 60_000, `${qr_code.length}`)
  })

  test('the issuer is the host of the site, with its port', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_SITE_URL: 'http://localhost:3000/x' })
    const person = await newPerson(app)
    const { totp } = await ask<Enrolled>(app, 'POST', '/factors', person, { factor_type: 'totp' })
    assert.ok(totp?.uri.startsWith(`otpauth://totp/localhost:3000:${person.email}?`))
  })

  test('a picture is made for the longest name and issuer, too', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const local = '+'.repeat(240)
    await app.pool.query('update auth.users set email = $1 where id = $2', [
      `${local}@example.com`,
      person.user.id,
    ])
    const payload = { factor_type: 'totp', issuer: '😀'.repeat(32) }
    const { totp } = await ask<Enrolled>(app, 'POST', '/factors', person, payload)
    assert.ok(totp?.qr_code.startsWith('<svg '))
  })

  test('raises the session in which it is proven, with new tokens', async () => {
    const { app } = await serverFor(everyFactor)
    const before = await newPerson(app)
    const factor = await addTotp(app, before, 'My phone')
    const asked = await challenge(app, before, factor.id)
    assert.equal(asked.type, 'totp')
    assert.ok(Math.abs(asked.expires_at - Date.now() / 1000 - 300) < 5)

    const code = factor.code()
    const body = { challenge_id: asked.id, code: `${code.slice(0, 3)} ${code.slice(3)}` }
    const response = await answer(app, before, factor.id, body)
    assert.equal(response.statusCode, 200, response.body)
    const session = response.json()

    const [old, raised] = [claimsOf(before), claimsOf(session)]
    assert.deepEqual([old.aal, raised.aal], ['aal1', 'aal2'])
    assert.equal(raised.session_id, old.session_id)
    assert.deepEqual(
      raised.amr.map(({ method }) => method),
      ['totp', 'password'],
    )
    assert.equal(session.token_type, 'bearer')
    const [listed] = session.user.factors
    assert.deepEqual([listed.id, listed.status, listed.phone], [factor.id, 'verified', ''])
    assert.ok(listed.last_challenged_at)
    const { rows } = await app.pool.query('select * from auth.sessions where id = $1', [
      raised.session_id,
    ])
    assert.deepEqual([rows[0].aal, rows[0].factor_id], ['aal2', factor.id])
    assert.equal(Number(rows[0].refresh_token_counter), 2)
    const next = await refresh(app, session.refresh_token)
    assert.equal(claimsOf(next.json()).aal, 'aal2')
  })

  test('the refresh token from before ends the session when it comes back', async () => {
    const { app } = await serverFor(everyFactor)
    const { before, session } = await guarded(app)
    assert.deepEqual(outcomeOf(await refresh(app, before.refresh_token)), [
      400,
      'refresh_token_already_used',
    ])
    assert.deepEqual(outcomeOf(await getUser(app, session)), [403, 'session_not_found'])
  })

  test('other sessions below aal2 end at every proof, those at aal2 stay', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, factor, session } = await guarded(app)
    const [second, third] = [await signedIn(app, email), await signedIn(app, email)]
    const raised = await prove(app, second, factor, 1)
    assert.deepEqual(outcomeOf(await getUser(app, third)), [403, 'session_not_found'])
    assert.deepEqual(outcomeOf(await refresh(app, third.refresh_token)), [
      400,
      'refresh_token_not_found',
    ])
    assert.equal((await getUser(app, session)).statusCode, 200)
    assert.equal((await getUser(app, raised)).statusCode, 200)
  })

  test('other tries of the kind that were never finished are removed', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    await addTotp(app, person, 'abandoned')
    const phone = { factor_type: 'phone', friendly_name: 'another kind', phone: '+15550107' }
    await ask<Enrolled>(app, 'POST', '/factors', person, phone)
    const session = await prove(app, person, await addTotp(app, person, 'finished'))
    assert.deepEqual(
      session.user.factors?.map(({ friendly_name }) => friendly_name),
      ['another kind', 'finished'],
    )
  })

  test('a wrong code leaves the challenge open', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id, secret, code } = await addTotp(app, person)
    const { id: challenge_id } = await challenge(app, person, id)
    const wrong = await answer(app, person, id, { challenge_id, code: wrongCode(secret) })
    assert.deepEqual(outcomeOf(wrong), [422, 'mfa_verification_failed'])
    assert.equal(wrong.json().msg, 'Invalid TOTP code entered')
    assert.equal(claimsOf((await refresh(app, person.refresh_token)).json()).aal, 'aal1')
    const right = await answer(app, person, id, { challenge_id, code: code() })
    assert.equal(right.statusCode, 200, right.body)
  })

  for (const code of ['１２３４５６', '٠١٢٣٤٥', 'äöüäöü', '-1e003', '😀😀😀']) {
    test(`${code} is a wrong code`, async () => {
      const { app } = await serverFor(everyFactor)
      const person = await newPerson(app)
      const { id } = await addTotp(app, person)
      const { id: challenge_id } = await challenge(app, person, id)
      const wrong = await answer(app, person, id, { challenge_id, code })
      assert.deepEqual(outcomeOf(wrong), [422, 'mfa_verification_failed'])
    })
  }

  test('a code may be a step early or late, and no more', async () => {
    const { app } = await serverFor(everyFactor)
    for (const away of [-1, 1]) {
      const person = await newPerson(app)
      const factor = await addTotp(app, person)
      const { id: challenge_id } = await challenge(app, person, factor.id)
      const proof = { challenge_id, code: factor.code(-2) }
      assert.equal((await answer(app, person, factor.id, proof)).statusCode, 422)
      await prove(app, person, factor, away)
    }
  })

  test('the second in which something was proven is the one that had begun', async () => {
    const { app } = await serverFor(everyFactor)
    const { session } = await guarded(app)
    await app.pool.query(
      `update auth.mfa_amr_claims set updated_at = '2026-01-01T00:00:00.9Z' where session_id = $1`,
      [claimsOf(session).session_id],
    )
    const { amr } = claimsOf((await refresh(app, session.refresh_token)).json())
    const begun = Date.parse('2026-01-01T00:00:00Z') / 1000
    assert.deepEqual(
      amr.map(({ timestamp }) => timestamp),
      [begun, begun],
    )
  })

  test('is removed at aal2, and the session falls back when it is next refreshed', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    const removed = await ask(app, 'DELETE', `/factors/${factor.id}`, session)
    assert.deepEqual(removed, { id: factor.id })
    assert.equal((await getUser(app, session)).json().factors, undefined)
    const next = (await refresh(app, session.refresh_token)).json()
    const { aal, amr } = claimsOf(next)
    assert.deepEqual([aal, amr.map(({ method }) => method)], ['aal1', ['password']])
  })

  test('a session that another factor had raised stays at its level when one is removed', async () => {
    const { app } = await serverFor(everyFactor)
    const { email, session, factor } = await guarded(app)
    const second = await addTotp(app, session, 'second')
    const lowered = await prove(app, session, second)
    const other = await prove(app, await signedIn(app, email), factor, 1)
    await ask(app, 'DELETE', `/factors/${second.id}`, other)
    const levels = [lowered, other].map(async ({ refresh_token }) => {
      return claimsOf((await refresh(app, refresh_token)).json()).aal
    })
    assert.deepEqual(await Promise.all(levels), ['aal1', 'aal2'])
  })

  test('one that was never confirmed is removed at aal1', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id } = await addTotp(app, person)
    await ask(app, 'DELETE', `/factors/${id}`, person)
    assert.deepEqual(outcomeOf(await send(app, 'DELETE', `/factors/${id}`, person)), [
      404,
      'mfa_factor_not_found',
    ])
  })
})
