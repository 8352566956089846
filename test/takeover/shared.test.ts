/** While a GoTrue reads the database, too: its rows are honoured, and ours are as it would have written them. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'

import { resealSecrets } from '../../cli/takeover/secrets.ts'
import { missingFeatures } from '../../db/features-in-use.ts'
import { finishTakeover } from '../../db/takeover.ts'
import { configuredEncryption, createEncryption } from '../../plugins/encryption.ts'
import { migrated, query } from '../db/sql.ts'
import { configOf } from '../support/config.ts'
import { endingOfSuite } from '../support/ending.ts'
import { addTotp, prove } from '../support/factors.ts'
import { gotrueDatabase } from '../support/gotrue/database.ts'
import { takenOver } from '../support/gotrue/taken-over.ts'
import { holdPerson } from '../support/held-person.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { codeIn, linkIn } from '../support/mail-links.ts'
import {
  confirmedPerson,
  createdPerson,
  newAddress,
  newNumber,
  signedIn,
} from '../support/people.ts'
import { call, getUser, refresh, verify } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'

const key = randomBytes(32)

/** As GoTrue makes the token of a link and what it compares a typed code with. */
const gotrueHash = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

suite('a database that is shared with GoTrue', () => {
  const ending = endingOfSuite()
  let server: Built
  before(async () => {
    server = await takenOver(ending, {
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key.toString('base64url')}`,
    })
  })
  const rows = (text: string, ...values: string[]) => query(server.database.url, { text, values })

  /** What GoTrue leaves behind when it mails a recovery link. */
  async function gotrueLink(email: string, sentAt: string, prefix = '') {
    const code = '482913'
    const token = prefix + gotrueHash(email, code)
    await rows(
      `with person as (update auth.users set recovery_token = $1, recovery_sent_at = now() - $3::interval
          where email = $2 returning id), gone as (delete from auth.one_time_tokens where user_id in (select id from person))
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        select gen_random_uuid(), id, 'recovery_token', $1, $2 from person`,
      token,
      email,
      sentAt,
    )
    return { code, token }
  }

  const columnOf = async (email: string) =>
    (await rows('select recovery_token from auth.users where email = $1', email))[0]?.recovery_token

  test('its link is opened once, and its typed code dies with it', async () => {
    const email = newAddress()
    await confirmedPerson(server, email)
    const { code, token } = await gotrueLink(email, '1 hour')

    const opened = await verify(server.app, { type: 'recovery', token_hash: token })

    assert.equal(opened.statusCode, 200, opened.body)
    assert.equal(await columnOf(email), '')
    for (const proof of [{ token_hash: token }, { email, token: code }]) {
      const again = await verify(server.app, { type: 'recovery', ...proof })
      assert.equal(again.json().error_code, 'otp_expired')
    }
  })

  test('its typed code counts, in a flow with PKCE too, until it is too old', async () => {
    const email = newAddress()
    await confirmedPerson(server, email)
    for (const [age, prefix, status] of [
      ['1 hour', '', 200],
      ['1 hour', 'pkce_', 200],
      ['25 hours', '', 403],
    ] as const) {
      const { code } = await gotrueLink(email, age, prefix)
      const typed = await verify(server.app, { type: 'recovery', email, token: code })
      assert.equal(typed.statusCode, status, typed.body)
    }
  })

  test('wrong codes void its token after ten, as they void ours', async () => {
    const email = newAddress()
    await confirmedPerson(server, email)
    const { code } = await gotrueLink(email, '1 minute')
    for (let guess = 0; guess < 10; guess++) {
      await verify(server.app, { type: 'recovery', email, token: '000000' })
    }
    const right = await verify(server.app, { type: 'recovery', email, token: code })
    assert.equal(right.statusCode, 403)
  })

  test('our links and codes are where it looks for them', async () => {
    const email = newAddress()
    await confirmedPerson(server, email)
    await call(server.app, '/recover', { email })
    const mail = await server.mail.waitFor(
      ({ to, mail: { subject } }) => to === email && !/confirm/i.test(subject ?? ''),
    )
    const token = String(new URL(linkIn(mail)).searchParams.get('token'))

    const [row] = await rows(
      `select u.recovery_token, u.recovery_sent_at > now() - interval '1 minute' as is_recent, t.token_hash
        from auth.users u join auth.one_time_tokens t on t.user_id = u.id and t.token_type = 'recovery_token'
        where u.email = $1`,
      email,
    )
    const code = gotrueHash(email, codeIn(mail))
    assert.deepEqual(row, { recovery_token: code, is_recent: true, token_hash: token })
    assert.equal(
      (await verify(server.app, { type: 'recovery', token_hash: token })).statusCode,
      200,
    )
    assert.equal(await columnOf(email), '')
  })

  test('whoever guesses a code of ours does not have its link: a guess is counted', async () => {
    const email = newAddress()
    await confirmedPerson(server, email)
    const mail = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const guessed = gotrueHash(email, codeIn(mail))

    for (const token_hash of [guessed, `pkce_${guessed}`]) {
      const response = await verify(server.app, { type: 'recovery', token_hash })
      assert.equal(response.json().error_code, 'otp_expired', response.body)
    }
    const typed = await verify(server.app, { type: 'recovery', email, token: codeIn(mail) })
    assert.equal(typed.statusCode, 200, typed.body)
  })

  test('a code that it texted proves no address, whatever it is called', async () => {
    const [email, phone, code] = [newAddress(), newNumber(), '271828']
    const { id } = await createdPerson(server.app, { email, phone, phone_confirm: true })
    const token_hash = gotrueHash(phone, code)
    await rows(
      `with sent as (update auth.users set confirmation_token = $2, confirmation_sent_at = now() where id = $1)
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        values (gen_random_uuid(), $1, 'confirmation_token', $2, $3)`,
      ...[id, token_hash, phone],
    )

    for (const type of ['signup', 'invite', 'email']) {
      const response = await verify(server.app, { type, token_hash })
      assert.equal(response.json().error_code, 'otp_expired', response.body)
    }
  })

  test('the key of a session and the secret of an app are stored as it stores them', async () => {
    const email = newAddress()
    const person = await confirmedPerson(server, email)
    const factor = await addTotp(server.app, person)
    await prove(server.app, person, factor)

    const [stored] = await rows(
      `select refresh_token_hmac_key as key, secret from auth.sessions s
        join auth.mfa_factors f on f.user_id = s.user_id where s.user_id = $1`,
      person.user.id,
    )
    assert.match(String(stored?.key), /^[\w-]{43}$/)
    assert.equal(stored?.secret, factor.secret)
  })

  test('a password and a secret that it encrypted are read under the key of their id', async () => {
    const { email, user } = await newPersonOf(server)
    const gotrue = createEncryption([randomBytes(32)], [], () => ({ key: { id: 'k1', key } }))
    const [{ hash } = { hash: '' }] = await rows(
      'select encrypted_password as hash from auth.users where id = $1',
      user.id,
    )
    await rows(
      'update auth.users set encrypted_password = $2 where id = $1',
      user.id,
      gotrue.seal(user.id, String(hash)),
    )

    await signedIn(server.app, email)
  })

  test('an access token of a session counts without an issuer, as GoTrue signs it by default', async () => {
    const person = await newPersonOf(server)
    const { iss: _, ...claims } = await server.app.jwt.verify(person.access_token)
    const token = await server.app.jwt.sign({ ...claims })
    const response = await getUser(server.app, { access_token: token })
    assert.equal(response.statusCode, 200, response.body)

    const other = await server.app.jwt.sign({ ...claims, iss: 'https://other.example' })
    assert.equal((await getUser(server.app, { access_token: other })).statusCode, 403)
  })

  test('the end of it takes people in the order in which requests take two of them', async () => {
    const people = await Promise.all([newPersonOf(server), newPersonOf(server)])
    const [first, second] = people.toSorted((a, b) => (a.user.id < b.user.id ? -1 : 1))
    // The first by id is the last in the table.
    for (const person of [second, first]) await gotrueLink(person?.email ?? '', '1 minute')
    const { app } = server
    const held = await holdPerson(app, first?.user.id ?? '')
    const { answer: finished } = await held.queue(1, () => finishTakeover(app.db))
    const free = await rows(
      'select from auth.users where id = $1 for update skip locked',
      second?.user.id ?? '',
    )
    await held.release()
    await finished
    assert.equal(free.length, 1)
    await app.db.updateTable('postern_takeover').set({ state: 'shared' }).execute()
  })

  test('after the end of it, every secret is encrypted and everybody stays signed in', async () => {
    const person = await newPersonOf(server)
    const { app, config } = server
    await finishTakeover(app.db)
    await resealSecrets(app.db, 'auth', configuredEncryption(config, { isShared: false }))

    const plain = await rows(
      `select 1 from auth.sessions where refresh_token_hmac_key !~ '^[{]'
        union all select 1 from auth.mfa_factors where secret <> '' and secret !~ '^[{]'`,
    )
    assert.deepEqual(plain, [])
    assert.equal((await refresh(app, person.refresh_token)).statusCode, 200)
    await app.db.updateTable('postern_takeover').set({ state: 'shared' }).execute()
  })
})

async function newPersonOf(server: Built) {
  const email = newAddress()
  const person = await confirmedPerson(server, email)
  return { ...person, email }
}

suite('what is not there yet', () => {
  test('can be named in the configuration, all of it', () => {
    const words = Object.keys(missingFeatures)
    const config = configOf({ AUTH_TAKEOVER_ACCEPT_MISSING: words.join() })
    assert.deepEqual(config.AUTH_TAKEOVER_ACCEPT_MISSING, words)
  })

  test('stops the start where it is in use, unless that is accepted', async (t) => {
    const database = await gotrueDatabase()
    await migrated(database.url)
    await query(
      database.url,
      `insert into auth.sso_providers (id) values ('99999999-9999-4999-8999-999999999999')`,
      `insert into auth.saml_providers (id, sso_provider_id, entity_id, metadata_xml) values (gen_random_uuid(),
        '99999999-9999-4999-8999-999999999999', 'https://idp.example', '<x/>')`,
    )

    await assert.rejects(build(t, { database }), /single sign-on by SAML.*ACCEPT_MISSING=saml/s)
    const env = { AUTH_TAKEOVER_ACCEPT_MISSING: 'saml' }
    const { app } = await build(t, { database, env })
    assert.equal(app.takeover.isShared, true)
  })

  const switchedOn: Record<string, RegExp> = {
    AUTH_OAUTH_SERVER_ENABLED: /ACCEPT_MISSING=oauth_server/,
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: /ACCEPT_MISSING=web3/,
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: /ACCEPT_MISSING=web3/,
  }
  for (const [name, told] of Object.entries(switchedOn)) {
    test(`stops the start by ${name}, too`, async (t) => {
      const database = await gotrueDatabase()
      await migrated(database.url)
      await assert.rejects(build(t, { database, env: { [name]: 'true' } }), told)
    })
  }
})
