/** Emails, SMS and pages in the language of their reader, through the whole server. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { startTemplateServer } from '../mail/template-server.ts'
import { emailAfter, emailedPath } from '../support/messages/mail-journeys.ts'
import { linkIn } from '../support/messages/mail-links.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'
import { adminToken, newAddress, newNumber, password } from '../support/users.ts'

const french = { 'accept-language': 'fr-CA, en;q=0.5' }

suite('language of emails and pages', () => {
  let server: Built
  const closing = endingOfSuite()

  before(async () => {
    server = await build(closing, {
      env: { AUTH_DEFAULT_LOCALE: 'de', AUTH_MAILER_LINK_CONFIRMATION: 'true' },
    })
  })

  /** The subject of the mail that a sign-up causes. */
  async function signedUp(data: object | undefined, headers: Record<string, string>) {
    const email = newAddress()
    const body = { email, password, ...(data && { data }) }
    const { mail } = await emailAfter(server, email, () =>
      call(server.app, '/signup', body, { headers }),
    )
    return { email, mail }
  }

  const choices: [why: string, data: object | undefined, header: string, subject: RegExp][] = [
    ['uses the metadata locale first', { locale: 'es', language: 'it' }, 'ja', /^Confirma tu/],
    ['uses the metadata language second', { language: 'it-IT' }, 'ja', /^Conferma il/],
    ['uses Accept-Language third', undefined, 'hu, ja;q=0.9, en;q=0.1', /^メールアドレスの確認/],
    ['uses AUTH_DEFAULT_LOCALE last', undefined, '*', /^Bestätigen Sie/],
    ['ignores an unknown language', { locale: 'xx-invalid-xx' }, 'pl', /^Potwierdź swój/],
    [
      'ignores a value that is not a string',
      { locale: { de: 1 }, language: 7 },
      'nl',
      /^Bevestig je/,
    ],
  ]
  for (const [why, data, header, subject] of choices) {
    test(`email: ${why}`, async () => {
      const { mail } = await signedUp(data, { 'accept-language': header })
      assert.match(mail.subject ?? '', subject)
    })
  }

  test('warns about a default locale without texts', async (t) => {
    const collectWarnings = async (env: Record<string, string>) => {
      const lines: string[] = []
      await build(t, { lines, env })
      return lines.filter((line) => line.includes('AUTH_DEFAULT_LOCALE'))
    }
    const [line = '', ...more] = await collectWarnings({ AUTH_DEFAULT_LOCALE: 'sv' })
    assert.match(line, /AUTH_DEFAULT_LOCALE is sv, which has no messages/)
    assert.deepEqual(more, [])
    assert.deepEqual(await collectWarnings({ AUTH_DEFAULT_LOCALE: 'de-AT' }), [])
    const own = { AUTH_MAILER_SUBJECTS_INVITE_SV: 'Välkommen' }
    assert.deepEqual(await collectWarnings({ AUTH_DEFAULT_LOCALE: 'sv', ...own }), [])
  })

  test('is kept in the queue for emails sent by a worker', async () => {
    const { email } = await signedUp(undefined, {})
    const send = (headers: Record<string, string>) =>
      emailAfter(server, email, () => call(server.app, '/recover', { email }, { headers }))

    assert.match((await send(french)).mail.subject ?? '', /^Réinitialisez votre mot de passe/)
    assert.match((await send({})).mail.subject ?? '', /^Passwort zurücksetzen/)
  })

  test('sends an invitation in the language of the user, not of the admin', async () => {
    const email = newAddress()
    const body = { email, data: { locale: 'tr' } }
    const options = { token: await adminToken(server.app), headers: french }
    const { mail } = await emailAfter(server, email, () =>
      call(server.app, '/invite', body, options),
    )

    assert.equal(mail.subject, 'Davet edildiniz')
  })

  test('shows pages in the language of the browser, right-to-left if needed', async () => {
    const { email } = await signedUp(undefined, {})
    const link = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const page = (language: string) =>
      call(server.app, emailedPath(linkIn(link)), undefined, {
        headers: { 'accept-language': language },
      })

    assert.match(
      (await page('ar')).body,
      /<html lang="ar" dir="rtl">[\s\S]*إعادة تعيين كلمة المرور/,
    )
    assert.match((await page('ja-JP')).body, /<h1>パスワードの再設定<\/h1>/)
    const german = await page('')
    assert.match(german.body, /<html lang="de" dir="ltr">/)
    assert.match(String(german.headers.vary), /accept-language/i)
  })
})

suite('language of SMS', () => {
  let server: Built
  const closing = endingOfSuite()

  before(async () => {
    const env = { AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
    server = await build(closing, { env, dev: true })
  })

  async function texted(body: object, headers: Record<string, string>): Promise<string> {
    await call(server.app, '/otp', body, { headers })
    const response = await call(server.app, '/dev/messages')
    const [newest]: { text: string }[] = response.json()
    return newest?.text ?? ''
  }

  test('is taken from the metadata for new and known users', async () => {
    const phone = newNumber()
    assert.match(await texted({ phone, data: { locale: 'pl' } }, french), /^Twój kod to \d{6}$/)
    await server.app.db
      .updateTable('postern_send_intervals')
      .set({ sent_at: new Date(0) })
      .execute()
    assert.match(await texted({ phone }, french), /^Twój kod to \d{6}$/)
  })

  test('is taken from the request without metadata', async () => {
    assert.match(await texted({ phone: newNumber() }, french), /^Votre code est \d{6}$/)
  })
})

suite('custom templates and languages', () => {
  const closing = endingOfSuite()
  const folder = temporaryFolder(closing, 'templates')
  let server: Built
  let remote: Awaited<ReturnType<typeof startTemplateServer>>

  before(async () => {
    writeFileSync(join(folder, 'invite.html'), '<p>File for {{ .Email }} in {{ .Locale }}</p>')
    writeFileSync(join(folder, 'sv.json'), '{"mails": {"magic_link": {"subject": "Välkommen"}}}')
    remote = await startTemplateServer(closing, '{"mails": {"magic_link": {"subject": "Szia"}}}')
    server = await build(closing, {
      dev: true,
      env: {
        AUTH_TEMPLATES_DIR: folder,
        AUTH_LANGUAGES: `sv.json, ${remote.url}/hu.json`,
        AUTH_MAILER_TEMPLATES_INVITE: 'invite.html',
        AUTH_MAILER_TEMPLATES_INVITE_PT_BR: '<p>Inline for {{ .Email }}</p>',
        AUTH_MAILER_SUBJECTS_INVITE_PT_BR: 'Para você',
        GOTRUE_MAILER_SUBJECTS_INVITE_JA: 'ようこそ',
        AUTH_MAILER_TEMPLATES_RECOVERY: '../outside.html',
      },
    })
  })

  const preview = async (newValue: string, tag: string, { app }: Built) => {
    const found = (await app.mailer.preview(tag)).find(({ kind }) => kind === newValue)
    assert.ok(found)
    return found
  }
  const invitation = (tag: string, built = server) => preview('invite', tag, built)
  const magicLink = (tag: string, built = server) => preview('magic_link', tag, built)

  test('uses a file of AUTH_TEMPLATES_DIR for all languages', async () => {
    const { html, subject } = await invitation('de')
    assert.equal(html, '<p>File for ada.lovelace@example.com in de</p>')
    assert.equal(subject, "You've been invited")
  })

  test('uses a template of one language, also inline', async () => {
    const { html, subject } = await invitation('pt-BR')
    assert.equal(html, '<p>Inline for ada.lovelace@example.com</p>')
    assert.equal(subject, 'Para você')
    assert.equal((await invitation('ja')).subject, 'ようこそ')
  })

  test('loads a language from a file or a URL', async () => {
    assert.equal((await magicLink('sv')).subject, 'Välkommen')
    assert.equal((await magicLink('hu')).subject, 'Szia')
    assert.equal(server.app.languages.tagFor({ locale: 'sv-FI' }), 'sv')
    const [swedish] = server.app.languages.missing()
    assert.equal(swedish?.tag, 'sv')
    assert.ok(swedish.places.includes('mails.invite.heading'))
  })

  test('reloads files on SIGHUP, and always in development', async (t) => {
    const stored = await build(t, {
      env: {
        AUTH_TEMPLATES_DIR: folder,
        AUTH_LANGUAGES: 'sv.json',
        AUTH_MAILER_TEMPLATES_INVITE: 'invite.html',
      },
    })
    assert.match((await invitation('de', stored)).html, /^<p>File/)
    writeFileSync(join(folder, 'invite.html'), '<p>Newer</p>')
    writeFileSync(join(folder, 'sv.json'), '{"mails": {"magic_link": {"subject": "Hej"}}}')
    assert.match((await invitation('de', stored)).html, /^<p>File/)
    assert.equal((await invitation('de')).html, '<p>Newer</p>')

    await stored.app.mailer.reloadTemplates()
    await stored.app.languages.reload()

    assert.equal((await invitation('de', stored)).html, '<p>Newer</p>')
    assert.equal((await magicLink('sv', stored)).subject, 'Hej')
  })

  test('keeps the last valid copy when a file is missing or invalid', async () => {
    writeFileSync(join(folder, 'invite.html'), '<p>{{ if .Email }}')
    await server.app.mailer.reloadTemplates()
    assert.equal((await invitation('de')).html, '<p>Newer</p>')
    rmSync(join(folder, 'invite.html'))
    await server.app.mailer.reloadTemplates()
    assert.equal((await invitation('de')).html, '<p>Newer</p>')
  })

  test('does not read a file outside the folder', async () => {
    writeFileSync(join(folder, '..', 'outside.html'), '<p>secret</p>')
    const previews = await server.app.mailer.preview('en')
    rmSync(join(folder, '..', 'outside.html'))
    assert.match(
      previews.find(({ kind }) => kind === 'recovery')?.html ?? '',
      /Reset your password/,
    )
  })
})
