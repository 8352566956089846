/** An email or phone change revokes other sessions, so that an attacker loses access. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { externalServer, verifiedProfile } from '../../support/external.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../../support/linking.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { buildWithSms, codeAfter } from '../../support/messages/phone-journeys.ts'
import { changeUser, getUser, verify } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import {
  autoconfirm,
  bodyOf200,
  confirmedUser,
  newAddress,
  newNumber,
  phoneUser,
  signedIn,
  signIn,
  signUpUser,
} from '../../support/users.ts'

suite('sessions after an email or phone change', () => {
  test('revokes other sessions once both emails confirmed the change', async (t) => {
    const server = await build(t)
    const requester = await confirmedUser(server)
    const email = requester.user.email ?? ''
    const other = await signedIn(server.app, email)
    const changed = newAddress('changed')
    bodyOf200(await changeUser(server.app, requester.access_token, { email: changed }))
    await confirm(server, email, email)
    assert.deepEqual(
      await live(server, requester, other),
      [true, true],
      'half done changes nothing',
    )
    const opened = await confirm(server, changed, changed)
    assert.deepEqual(await live(server, requester, other, opened), [true, false, true])
  })

  test('revokes other sessions when an email changes immediately', async (t) => {
    const { app, ...server } = await build(t, { env: { ...autoconfirm, ...withoutEmail } })
    const requester = await signUpUser(app)
    const other = await signedIn(app, requester.email)
    bodyOf200(await changeUser(app, requester.access_token, { email: newAddress() }))
    assert.deepEqual(await live({ app, ...server }, requester, other), [true, false])
  })

  test('revokes other sessions when a new phone is confirmed', async (t) => {
    const server = await buildWithSms(t)
    const phone = newNumber()
    const requester = await phoneUser(server, phone)
    const other: Session = bodyOf200(await signIn(server.app, { phone }))
    const changed = newNumber()
    const send = () => changeUser(server.app, requester.access_token, { phone: changed })
    const token = await codeAfter(server, changed, send)
    const verification = { type: 'phone_change', phone: changed, token }
    const opened: Session = bodyOf200(await verify(server.app, verification))
    assert.deepEqual(await live(server, other, opened), [false, true])
  })

  test('revokes other sessions when unlinking makes another email that of the account', async (t) => {
    const server = await externalServer(t)
    const requester = await confirmedUser(server)
    const changed = newAddress('changed')
    await link(server, requester, 'github', verifiedProfile(changed, nextId()))
    const other = await signedIn(server.app, requester.user.email ?? '')
    const id = identityId(await fetchUser(server, requester), 'email')
    assert.equal((await unlink(server, requester, id)).statusCode, 200)
    assert.equal((await fetchUser(server, requester)).email, changed)
    assert.deepEqual(await live(server, requester, other), [true, false])
  })

  test('revokes no session when a first phone is added', async (t) => {
    const server = await buildWithSms(t, { env: autoconfirm })
    const requester = await signUpUser(server.app)
    const phone = newNumber()
    const send = () => changeUser(server.app, requester.access_token, { phone })
    const token = await codeAfter(server, phone, send)
    bodyOf200(await verify(server.app, { type: 'phone_change', phone, token }))
    assert.deepEqual(await live(server, requester), [true])
  })
})

const withoutEmail = { AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
type Server = Pick<Awaited<ReturnType<typeof build>>, 'app' | 'mail'>

async function confirm(server: Server, to: string, email: string): Promise<Session> {
  const token = codeIn(await latestEmail(server, to))
  return bodyOf200(await verify(server.app, { type: 'email_change', email, token }))
}

async function latestEmail(server: Server, to: string) {
  const subject = /confirm your new email/i
  return server.mail.waitFor(
    ({ mail, ...sent }) => sent.to === to && subject.test(mail.subject ?? ''),
  )
}

/** Which of the sessions are still valid. */
async function live({ app }: Pick<Server, 'app'>, ...sessions: Session[]): Promise<boolean[]> {
  const responses = await Promise.all(sessions.map((session) => getUser(app, session)))
  return responses.map(({ statusCode }) => statusCode === 200)
}
