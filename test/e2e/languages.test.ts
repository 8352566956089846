/** Mails, text messages and pages in the language of whoever reads them, through the whole server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { startTemplateServer } from '../mail/template-server.ts'
import { endingOfSuite } from '../support/ending.ts'
import { mailAfter, pathOf } from '../support/mail-journeys.ts'
import { linkIn } from '../support/mail-links.ts'
import { adminToken, newAddress, newNumber, password } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'

const french = { 'accept-language': 'fr-CA, en;q=0.5' }

suite('the language of the reader', () => {
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
    const { mail } = await mailAfter(server, email, () =>
      call(server.app, '/signup', body, { headers }),
    )
    return { email, mail }
  }

  const choices: [why: string, data: object | undefined, header: string, subject: RegExp][] = [
    ['locale in the metadata wins', { locale: 'es', language: 'it' }, 'ja', /^Confirma tu/],
    ['then comes language', { language: 'it-IT' }, 'ja', /^Conferma il/],
    ['then Accept-Language', undefined, 'hu, ja;q=0.9, en;q=0.1', /^メールアドレスの確認/],
    ['then AUTH_DEFAULT_LOCALE', undefined, '*', /^Bestätigen Sie/],
    ['a language nobody speaks is none', { locale: 'xx-invalid-xx' }, 'pl', /^Potwierdź swój/],
    ['nor is what is no text', { locale: { de: 1 }, language: 7 }, 'nl', /^Bevestig je/],
  ]
  for (const [why, data, header, subject] of choices) {
    test(`of a mail: ${why}`, async () => {
      const { mail } = await signedUp(data, { 'accept-language': header })
      assert.match(mail.subject ?? '', subject)
    })
  }

  test('of nobody: a default without texts is told at the start, one with them is not', async (t) => {
    const toldOf = async (env: Record<string, string>) => {
      const lines: string[] = []
      await build(t, { lines, env })
      return lines.filter((line) => line.includes('AUTH_DEFAULT_LOCALE'))
    }
    const [line = '', ...more] = await toldOf({ AUTH_DEFAULT_LOCALE: 'sv' })
    assert.match(line, /AUTH_DEFAULT_LOCALE is sv, in which there are no texts/)
    assert.deepEqual(more, [])
    assert.deepEqual(await toldOf({ AUTH_DEFAULT_LOCALE: 'de-AT' }), [])
    const own = { AUTH_MAILER_SUBJECTS_INVITE_SV: 'Välkommen' }
    assert.deepEqual(await toldOf({ AUTH_DEFAULT_LOCALE: 'sv', ...own }), [])
  })

  test('of a mail that a worker thinks up survives the queue', async () => {
    const { email } = await signedUp(undefined, {})
    const ask = (headers: Record<string, string>) =>
      mailAfter(server, email, () => call(server.app, '/recover', { email }, { headers }))

    assert.match((await ask(french)).mail.subject ?? '', /^Réinitialisez votre mot de passe/)
    assert.match((await ask({})).mail.subject ?? '', /^Passwort zurücksetzen/)
  })

  test('of an invitation is that of the person, not of the admin', async () => {
    const email = newAddress()
    const body = { email, data: { locale: 'tr' } }
    const options = { token: await adminToken(server.app), headers: french }
    const { mail } = await mailAfter(server, email, () =>
      call(server.app, '/invite', body, options),
    )

    assert.equal(mail.subject, 'Davet edildiniz')
  })

  test('of a page is that of the browser, from right to left where it is written so', async () => {
    const { email } = await signedUp(undefined, {})
    const link = await mailAfter(server, email, () => call(server.app, '/recover', { email }))
    const page = (language: string) =>
      call(server.app, pathOf(linkIn(link)), undefined, {
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

suite('the language of a text message', () => {
  let server: Built
  const closing = endingOfSuite()

  before(async () => {
    const env = { AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
    server = await build(closing, { env, dev: true })
  })

  async function texted(body: object, headers: Record<string, string>): Promise<string> {
    await call(server.app, '/otp', body, { headers })
    const answer = await call(server.app, '/dev/messages')
    const [newest]: { text: string }[] = answer.json()
    return newest?.text ?? ''
  }

  test('is that of the metadata, of a new person and of one who is known', async () => {
    const phone = newNumber()
    assert.match(await texted({ phone, data: { locale: 'pl' } }, french), /^Twój kod to \d{6}$/)
    await server.app.db
      .updateTable('postern_send_intervals')
      .set({ sent_at: new Date(0) })
      .execute()
    assert.match(await texted({ phone }, french), /^Twój kod to \d{6}$/)
  })

  test('is that of the request when nothing else is known', async () => {
    assert.match(await texted({ phone: newNumber() }, french), /^Votre code est \d{6}$/)
  })
})

suite("an operator's templates and languages", () => {
  const closing = endingOfSuite()
  const folder = mkdtempSync(join(tmpdir(), 'postern-templates-'))
  let server: Built
  let remote: Awaited<ReturnType<typeof startTemplateServer>>

  before(async () => {
    writeFileSync(join(folder, 'invite.html'), '<p>File for {{ .Email }} in {{ .Locale }}</p>')
    writeFileSync(join(folder, 'sv.json'), '{"mails": {"invite": {"subject": "Välkommen"}}}')
    remote = await startTemplateServer(closing, '{"mails": {"invite": {"subject": "Szia"}}}')
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
  after(async () => {
    rmSync(folder, { recursive: true })
  })

  const invitation = async (tag: string, { app } = server) => {
    const previews = await app.mailer.preview(tag)
    const found = previews.find(({ kind }) => kind === 'invite')
    assert.ok(found)
    return found
  }

  test('a template is a file of AUTH_TEMPLATES_DIR, for all languages', async () => {
    const { html, subject } = await invitation('de')
    assert.equal(html, '<p>File for ada.lovelace@example.com in de</p>')
    assert.equal(subject, 'Sie wurden eingeladen')
  })

  test('one language may have its own, and it may stand in the setting itself', async () => {
    const { html, subject } = await invitation('pt-BR')
    assert.equal(html, '<p>Inline for ada.lovelace@example.com</p>')
    assert.equal(subject, 'Para você')
    assert.equal((await invitation('ja')).subject, 'ようこそ')
  })

  test('a language is a file or an address, and people are written to in it', async () => {
    assert.equal((await invitation('sv')).subject, 'Välkommen')
    assert.equal((await invitation('hu')).subject, 'Szia')
    assert.equal(server.app.languages.tagFor({ locale: 'sv-FI' }), 'sv')
    const [swedish] = server.app.languages.missing()
    assert.equal(swedish?.tag, 'sv')
    assert.ok(swedish.places.includes('mails.invite.heading'))
  })

  test('files are read again when that is asked for, as SIGHUP does; in development always', async (t) => {
    const kept = await build(t, {
      env: {
        AUTH_TEMPLATES_DIR: folder,
        AUTH_LANGUAGES: 'sv.json',
        AUTH_MAILER_TEMPLATES_INVITE: 'invite.html',
      },
    })
    assert.match((await invitation('de', kept)).html, /^<p>File/)
    writeFileSync(join(folder, 'invite.html'), '<p>Newer</p>')
    writeFileSync(join(folder, 'sv.json'), '{"mails": {"invite": {"subject": "Hej"}}}')
    assert.match((await invitation('de', kept)).html, /^<p>File/)
    assert.equal((await invitation('de')).html, '<p>Newer</p>')

    await kept.app.mailer.reloadTemplates()
    await kept.app.languages.reload()

    assert.equal((await invitation('de', kept)).html, '<p>Newer</p>')
    assert.equal((await invitation('sv', kept)).subject, 'Hej')
  })

  test('a file that has gone or is broken leaves the last good copy', async () => {
    writeFileSync(join(folder, 'invite.html'), '<p>{{ if .Email }}')
    await server.app.mailer.reloadTemplates()
    assert.equal((await invitation('de')).html, '<p>Newer</p>')
    rmSync(join(folder, 'invite.html'))
    await server.app.mailer.reloadTemplates()
    assert.equal((await invitation('de')).html, '<p>Newer</p>')
  })

  test('a file outside of the folder is not read', async () => {
    writeFileSync(join(folder, '..', 'outside.html'), '<p>secret</p>')
    const previews = await server.app.mailer.preview('en')
    rmSync(join(folder, '..', 'outside.html'))
    assert.match(
      previews.find(({ kind }) => kind === 'recovery')?.html ?? '',
      /Reset your password/,
    )
  })
})
