/** Configured subjects, templates and paths in received emails. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { before, suite, test } from 'node:test'

import {
  type EmailKind,
  emailKindDefinitions,
  type MailVariables,
  mailKindNames,
} from '../../../mail/kinds/index.ts'
import { samples } from '../../mail/rendering.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { type Ending, endingOfSuite } from '../../support/processes/ending.ts'
import { serve } from '../../support/processes/listening.ts'
import { call, changeUser } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import { confirmedUser, invite, newAddress, unconfirmedUser } from '../../support/users.ts'

suite('AUTH_MAILER_SUBJECTS_<KIND>, AUTH_MAILER_TEMPLATES_<KIND>', () => {
  let server: Built
  const ending = endingOfSuite()

  before(async () => {
    const templates = await templateServer(ending)
    const perKind = mailKindNames.flatMap((kind) => {
      const suffix = emailKindDefinitions[kind].envSuffix
      return [
        [`AUTH_MAILER_SUBJECTS_${suffix}`, `About {{ .Email }}: ${kind}`],
        [`AUTH_MAILER_TEMPLATES_${suffix}`, `${templates}/${kind}`],
      ]
    })
    server = await build(ending, { dev: true, env: Object.fromEntries(perKind) })
  })

  for (const kind of mailKindNames) {
    test(`are used for ${kind} with each variable of the type`, async () => {
      const message = await sent(server, kind)

      assert.equal(message.mail.subject, `About ${samples[kind].Email}: ${kind}`)
      const shown = String(message.mail.html).replaceAll('&amp;', '&')
      for (const [name, value] of Object.entries(samples[kind])) {
        if (typeof value === 'string') assert.ok(shown.includes(`${name}=${value};`), name)
      }
    })
  }
})

suite('built-in email templates', () => {
  let server: Built
  const ending = endingOfSuite()
  before(async () => {
    server = await build(ending)
  })

  for (const kind of mailKindNames) {
    const what = emailKindDefinitions[kind].link
      ? 'a heading, a paragraph and a link'
      : 'a heading and a paragraph'
    test(`an email of type ${kind} has ${what}`, async () => {
      const html = String((await sent(server, kind)).mail.html).replaceAll('&amp;', '&')
      assert.match(html, /<h1[^>]*>[^<]+<\/h1>/)
      assert.match(html, /<p[^>]*>[^<]+/)
      assert.equal(
        html.includes(`href="${samples.invite.ConfirmationURL}"`),
        emailKindDefinitions[kind].link,
      )
    })
  }
})

type Send = (server: Built, email: string) => Promise<ReceivedMail>

const paths: Record<string, { setting: string; send: Send }> = {
  confirmation: {
    setting: 'CONFIRMATION',
    send: async (server, email) => (await unconfirmedUser(server, email)).message,
  },
  invitation: {
    setting: 'INVITE',
    send: invite,
  },
  recovery: {
    setting: 'RECOVERY',
    async send(server, email) {
      await confirmedUser(server, email)
      return emailAfter(server, email, () => call(server.app, '/recover', { email }))
    },
  },
  'magic link': {
    setting: 'RECOVERY',
    async send(server, email) {
      await confirmedUser(server, email)
      return emailAfter(server, email, () => call(server.app, '/magiclink', { email }))
    },
  },
  'email change': {
    setting: 'EMAIL_CHANGE',
    async send(server, email) {
      const { access_token: token } = await confirmedUser(server)
      return emailAfter(server, email, () => changeUser(server.app, token, { email }))
    },
  },
}

suite('AUTH_MAILER_URLPATHS_<KIND>', () => {
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

  for (const [name, { setting, send }] of Object.entries(paths)) {
    test(`${setting} is the path of the link in a ${name} email`, async () => {
      const { pathname } = new URL(linkIn(await send(server, newAddress())))
      assert.equal(pathname, `/path-of-${setting.toLowerCase()}/verify`)
    })
  }
})

async function sent<Kind extends EmailKind>({ app, mail }: Built, kind: Kind) {
  const to = newAddress(kind)
  const variables: MailVariables[Kind] = samples[kind]
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
    const names = Object.keys(samples[request.url?.slice(1) as EmailKind])
    response.end(`<p>${names.map((name) => `${name}={{ .${name} }};`).join(' ')}</p>`)
  })
  return `http://127.0.0.1:${await serve(ending, server)}`
}
