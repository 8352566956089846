/** Where a person's mails are, and inviting somebody once more. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/ending.ts'
import { mailAfter, nextMail } from '../../support/mail-journeys.ts'
import { linkIn } from '../../support/mail-links.ts'
import { confirmedPerson, newAddress } from '../../support/people.ts'
import { outcomeOf, refresh } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'

interface Mails {
  mails: { kind: string; status: string; response: string | null; locale: string }[]
}

suite('the mails of a person', () => {
  let server: Built
  const closing = endingOfSuite()

  before(async () => {
    const env = { AUTH_MAILER_NOTIFICATIONS_REFRESH_TOKEN_REUSED_ENABLED: 'true' }
    server = await build(closing, { env })
  })

  const invite = async (email: string) => {
    const ask = () => asAdmin(server.app, 'POST', '/invite', { email })
    return linkIn(await mailAfter(server, email, ask))
  }
  const idOf = async (email: string) => {
    const { users } = await adminCall<{ users: { id: string; email: string }[] }>(
      server.app,
      'GET',
      '/admin/users',
    )
    return users.find((user) => user.email === email)?.id ?? ''
  }
  const mailsOf = async (id: string) =>
    (await adminCall<Mails>(server.app, 'GET', `/admin/users/${id}/mails`)).mails

  async function settled(id: string, status: string): Promise<Mails['mails'][number] | undefined> {
    for (;;) {
      const [newest] = await mailsOf(id)
      if (newest?.status === status) return newest
      await new Promise(setImmediate)
    }
  }

  test('are listed with the words of the mail server', async () => {
    const email = newAddress()
    await invite(email)
    const id = await idOf(email)

    const sent = await settled(id, 'sent')

    assert.equal(sent?.kind, 'invite')
    assert.equal(sent.locale, 'en')
    assert.match(sent.response ?? '', /^250/)
  })

  test('an open invitation is sent once more, with another link', async () => {
    const email = newAddress()
    const first = await invite(email)
    const id = await idOf(email)
    const again = () => asAdmin(server.app, 'POST', `/admin/users/${id}/resend_invitation`)

    const second = linkIn(await mailAfter(server, email, again))

    assert.notEqual(second, first)
    assert.equal((await mailsOf(id)).length, 2)
  })

  test('whoever has none is not invited again, and nobody is told apart from it by a mail', async () => {
    const { user } = await confirmedPerson(server)
    const path = `/admin/users/${user.id}/resend_invitation`
    assert.deepEqual(outcomeOf(await asAdmin(server.app, 'POST', path)), [400, 'validation_failed'])
    const nobody = '/admin/users/00000000-0000-4000-8000-00000000dead/resend_invitation'
    assert.deepEqual(outcomeOf(await asAdmin(server.app, 'POST', nobody)), [404, 'user_not_found'])
  })

  test('a refused recipient is refused, in the words of the mail server', async () => {
    server.mail.behave('permanent')
    const email = newAddress()
    await asAdmin(server.app, 'POST', '/invite', { email })
    const refused = await settled(await idOf(email), 'refused')
    server.mail.behave('accept')
    assert.match(refused?.response ?? '', /550/)
  })

  test('reuse of a refresh token is told to its owner', async () => {
    const email = newAddress()
    const session = await confirmedPerson(server, email)
    const once = await refresh(server.app, session.refresh_token)
    const { refresh_token: child }: { refresh_token: string } = once.json()
    await refresh(server.app, child)
    const since = server.mail.messages.length

    const reused = await refresh(server.app, session.refresh_token)

    assert.deepEqual(outcomeOf(reused), [400, 'refresh_token_already_used'])
    const { mail } = await nextMail(server, email, since)
    assert.equal(mail.subject, 'A session of your account was ended')
  })
})
