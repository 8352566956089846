/** Subjects, templates and paths that an operator sets, found again in the mail that arrives. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { before, suite, test } from 'node:test'

import { type MailKind, mailKindNames, mailKinds } from '../../mail/kinds.ts'
import type { MailVariables } from '../../mail/variables.ts'
import { type Ending, endingOfSuite } from '../support/ending.ts'
import { serve } from '../support/listening.ts'
import { mailAfter } from '../support/mail-journeys.ts'
import { linkIn } from '../support/mail-links.ts'
import type { ReceivedMail } from '../support/mail-server.ts'
import { confirmedPerson, invite, newAddress, unconfirmedPerson } from '../support/people.ts'
import { call, changeUser } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'

const common = { SiteURL: 'http://app.example', Email: 'ada@example.com', Data: { name: 'Ada' } }
const link = {
  ...common,
  ConfirmationURL: 'http://auth.example/verify?token=abc',
  Token: '123456',
  TokenHash: 'abc',
  RedirectTo: 'http://app.example/home',
}

/** What the specification lets a template of each kind name, and what we add. */
const kinds: { [K in MailKind]: MailVariables[K] } = {
  invite: link,
  confirmation: link,
  recovery: link,
  magic_link: link,
  email_change: { ...link, NewEmail: 'new@example.com', SendingTo: 'ada@example.com' },
  reauthentication: { ...common, Token: '123456' },
  password_changed_notification: common,
  email_changed_notification: { ...common, OldEmail: 'old@example.com' },
  phone_changed_notification: { ...common, Phone: '15550101', OldPhone: '15550100' },
  identity_linked_notification: { ...common, Provider: 'github' },
  identity_unlinked_notification: { ...common, Provider: 'github' },
  mfa_factor_enrolled_notification: { ...common, FactorType: 'totp' },
  mfa_factor_unenrolled_notification: { ...common, FactorType: 'totp' },
  security_key_refused_notification: common,
  recovery_code_used_notification: { ...common, Remaining: '9' },
  new_sign_in_notification: {
    ...common,
    Device: 'Firefox, Windows',
    IPAddress: '203.0.113.7',
    SignedInAt: '2026-03-04T05:06:07.000Z',
    EndSessionURL: 'http://auth.example/sessions/end?token=abc',
  },
  refresh_token_reused_notification: common,
  account_deleted_notification: common,
}

suite('a configured subject and template', () => {
  let server: Built
  const ending = endingOfSuite()

  before(async () => {
    const templates = await templateServer(ending)
    const perKind = mailKindNames.flatMap((kind) => {
      const suffix = mailKinds[kind].envSuffix
      return [
        [`AUTH_MAILER_SUBJECTS_${suffix}`, `About {{ .Email }}: ${kind}`],
        [`AUTH_MAILER_TEMPLATES_${suffix}`, `${templates}/${kind}`],
      ]
    })
    server = await build(ending, { dev: true, env: Object.fromEntries(perKind) })
  })

  for (const kind of mailKindNames) {
    test(`of ${kind} reach the mail, with every variable of the kind`, async () => {
      const message = await sent(server, kind)

      assert.equal(message.mail.subject, `About ada@example.com: ${kind}`)
      const shown = String(message.mail.html).replaceAll('&amp;', '&')
      for (const [name, value] of Object.entries(kinds[kind])) {
        if (typeof value === 'string') assert.ok(shown.includes(`${name}=${value};`), name)
      }
    })
  }
})

suite('without a template', () => {
  let server: Built
  const ending = endingOfSuite()
  before(async () => {
    server = await build(ending)
  })

  for (const kind of mailKindNames) {
    const what = mailKinds[kind].link
      ? 'a heading, a paragraph and its link'
      : 'a heading and a paragraph'
    test(`a mail of ${kind} has ${what}`, async () => {
      const html = String((await sent(server, kind)).mail.html)
      assert.match(html, /<h1[^>]*>[^<]+<\/h1>/)
      assert.match(html, /<p[^>]*>[^<]+/)
      assert.equal(html.includes(`href="${link.ConfirmationURL}"`), mailKinds[kind].link)
    })
  }
})

type Ask = (server: Built, email: string) => Promise<ReceivedMail>

const paths: Record<string, { setting: string; ask: Ask }> = {
  confirmation: {
    setting: 'CONFIRMATION',
    ask: async (server, email) => (await unconfirmedPerson(server, email)).message,
  },
  invitation: {
    setting: 'INVITE',
    ask: invite,
  },
  recovery: {
    setting: 'RECOVERY',
    async ask(server, email) {
      await confirmedPerson(server, email)
      return mailAfter(server, email, () => call(server.app, '/recover', { email }))
    },
  },
  'magic link': {
    setting: 'RECOVERY',
    async ask(server, email) {
      await confirmedPerson(server, email)
      return mailAfter(server, email, () => call(server.app, '/magiclink', { email }))
    },
  },
  'change of address': {
    setting: 'EMAIL_CHANGE',
    async ask(server, email) {
      const { access_token: token } = await confirmedPerson(server)
      return mailAfter(server, email, () => changeUser(server.app, token, { email }))
    },
  },
}

suite('a configured path', () => {
  let server: Built
  const ending = endingOfSuite()

  before(async () => {
    const env = Object.fromEntries(
      ['CONFIRMATION', 'INVITE', 'RECOVERY', 'EMAIL_CHANGE'].map((kind) => [
        `AUTH_MAILER_URLPATHS_${kind}`,
        `/path-of-${kind.toLowerCase()}/verify`,
      ]),
    )
    server = await build(ending, { env })
  })

  for (const [name, { setting, ask }] of Object.entries(paths)) {
    test(`of ${setting} is that of the link in a ${name} mail`, async () => {
      const { pathname } = new URL(linkIn(await ask(server, newAddress())))
      assert.equal(pathname, `/path-of-${setting.toLowerCase()}/verify`)
    })
  }
})

async function sent<Kind extends MailKind>({ app, mail }: Built, kind: Kind) {
  const to = newAddress(kind)
  const variables: MailVariables[Kind] = kinds[kind]
  await app.db
    .transaction()
    .execute((trx) =>
      app.mailer.queue(trx, { kind, to, userId: randomUUID(), variables }, new Date()),
    )
  return mail.waitFor(to)
}

/** Each template names every variable of its kind. */
async function templateServer(ending: Ending): Promise<string> {
  const server = createServer((request, response) => {
    const names = Object.keys(kinds[request.url?.slice(1) as MailKind])
    response.end(`<p>${names.map((name) => `${name}={{ .${name} }};`).join(' ')}</p>`)
  })
  return `http://127.0.0.1:${await serve(ending, server)}`
}
