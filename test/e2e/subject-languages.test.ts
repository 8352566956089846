/** Subjects and SMS messages that an operator set, in whatever language the client's browser is. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { english } from '../../mail/languages/language.ts'
import { read } from '../config/environment.ts'
import type { TestDatabase } from '../support/database.ts'
import { emailAfter } from '../support/messages/mail-journeys.ts'
import { sharedDatabase } from '../support/processes/shared-database.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { newAddress, newNumber, password } from '../support/users.ts'

const german = { 'accept-language': 'de-AT, de;q=0.9' }
const englishSubject = english.mails.confirmation.subject

interface Case {
  title: string
  env: Record<string, string>
  subject: string
  html: RegExp
}

const cases: Case[] = [
  {
    title: 'uses a subject set to the default text in each language',
    env: { AUTH_MAILER_SUBJECTS_CONFIRMATION: englishSubject },
    subject: englishSubject,
    html: /Bestätigen/,
  },
  {
    title: 'uses the language of the browser for an unset subject',
    env: {},
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    html: /Bestätigen/,
  },
  {
    title: 'uses the default subject of AUTH_DEFAULT_LOCALE for a template for all languages',
    env: { AUTH_MAILER_TEMPLATES_CONFIRMATION: '<p>Hello {{ .Token }}</p>' },
    subject: englishSubject,
    html: /^<p>Hello \d{6}<\/p>$/,
  },
  {
    title:
      'uses the default subject of another AUTH_DEFAULT_LOCALE for a template for all languages',
    env: {
      AUTH_DEFAULT_LOCALE: 'fr',
      AUTH_MAILER_TEMPLATES_CONFIRMATION: '<p>Bonjour {{ .Token }}</p>',
    },
    subject: 'Confirmez votre adresse e-mail',
    html: /^<p>Bonjour/,
  },
  {
    title: 'uses the default subject of its language for a template for one language',
    env: {
      AUTH_MAILER_TEMPLATES_CONFIRMATION: '<p>Hello {{ .Token }}</p>',
      AUTH_MAILER_TEMPLATES_CONFIRMATION_DE: '<p>Hallo {{ .Token }}</p>',
    },
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    html: /^<p>Hallo/,
  },
  {
    title:
      'replaces a failing template by the built-in email and subject in the browser’s language',
    env: { AUTH_MAILER_TEMPLATES_CONFIRMATION: '<p>{{ if .Token }}' },
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    html: /Bestätigen/,
  },
  {
    title: 'AUTH_LANGUAGES_ENABLED=false sends each email in AUTH_DEFAULT_LOCALE',
    env: { AUTH_LANGUAGES_ENABLED: 'false', AUTH_DEFAULT_LOCALE: 'fr' },
    subject: 'Confirmez votre adresse e-mail',
    html: /Confirmez/,
  },
]

suite('language of subjects', () => {
  const database = sharedDatabase()
  for (const { title, env, subject, html } of cases) {
    test(title, async (t) => {
      const server = await build(t, { env, database: await database() })
      const { mail } = await signedUp(server)
      assert.equal(mail.subject, subject)
      assert.match(String(mail.html), html)
    })
  }

  test('AUTH_LANGUAGES_ENABLED=false applies to metadata and pages as well', async (t) => {
    const env = { AUTH_LANGUAGES_ENABLED: 'false' }
    const server = await build(t, { env, database: await database() })
    const { mail } = await signedUp(server, { locale: 'ja' })
    assert.equal(mail.subject, englishSubject)
    const page = await call(server.app, '/verify?token=none&type=signup', undefined, {
      headers: { ...german, accept: 'text/html' },
    })
    assert.doesNotMatch(page.body, /lang="de"/)
  })

  test('AUTH_LANGUAGES_ENABLED=false warns about settings of other languages', () => {
    const env = {
      AUTH_LANGUAGES_ENABLED: 'false',
      AUTH_MAILER_SUBJECTS_INVITE_DE: 'Willkommen',
      AUTH_MAILER_SUBJECTS_INVITE_EN: 'Welcome',
    }
    const { notices } = read(env)
    assert.deepEqual(
      notices.filter((text) => text.includes('AUTH_LANGUAGES_ENABLED')),
      [
        'AUTH_LANGUAGES_ENABLED is false: AUTH_MAILER_SUBJECTS_INVITE_DE has no effect, as every message is in AUTH_DEFAULT_LOCALE (en).',
      ],
    )
  })
})

suite('language of SMS', () => {
  const database = sharedDatabase()

  test('uses a text set to the default in each language', async (t) => {
    assert.match(
      await texted(t, await database(), { AUTH_SMS_TEMPLATE: 'Your code is {{ .Code }}' }),
      /^Your code/,
    )
  })

  test('uses the language of the browser for an unset text', async (t) => {
    assert.match(await texted(t, await database(), {}), /^Ihr Code/)
  })
})

async function signedUp(server: Built, data?: object) {
  const email = newAddress()
  const body = { email, password, ...(data && { data }) }
  return emailAfter(server, email, () => call(server.app, '/signup', body, { headers: german }))
}

async function texted(t: TestContext, database: TestDatabase, env: Record<string, string>) {
  const { app } = await build(t, {
    dev: true,
    database,
    env: { ...env, AUTH_EXTERNAL_PHONE_ENABLED: 'true' },
  })
  await call(app, '/otp', { phone: newNumber() }, { headers: german })
  const [newest]: { text: string }[] = (await call(app, '/dev/messages')).json()
  return newest?.text ?? ''
}
