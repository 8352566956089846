import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { mailKindNames } from '../../../mail/kinds/index.ts'
import { startTemplateServer } from '../../mail/template-server.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { build } from '../../support/server.ts'

suite('/dev/mail-templates', () => {
  test('shows each email type with the custom template and its changes', async (t) => {
    const server = await startTemplateServer(t, '<p class="own">To {{ .Email }}</p>')
    const names = mailKindNames.map((kind) => kind.toUpperCase())
    const { app } = await build(t, {
      dev: true,
      env: {
        AUTH_MAILER_TEMPLATE_MAX_AGE: '0s',
        AUTH_MAILER_SUBJECTS_INVITE: 'Come in, <b>{{ .Data.name }}</b>',
        ...Object.fromEntries(
          names.map((name) => [`AUTH_MAILER_TEMPLATES_${name}`, `${server.url}/${name}`]),
        ),
      },
    })

    const { body } = await app.inject('/dev/mail-templates')
    server.serve('<p>Changed</p>')
    const { body: changed } = await app.inject('/dev/mail-templates')

    assert.equal(
      body.match(/srcdoc="&#60;p class=&#34;own&#34;&#62;To /g)?.length,
      mailKindNames.length,
    )
    assert.match(body, /Come in, &#60;b&#62;Ada Lovelace&#60;\/b&#62;/)
    assert.equal(
      changed.match(/srcdoc="&#60;p&#62;Changed&#60;\/p&#62;"/g)?.length,
      mailKindNames.length,
    )
    assert.deepEqual(new Set(server.paths), new Set(names.map((name) => `/${name}`)))
  })

  test('shows the built-in template when the custom one has an error', async (t) => {
    const server = await startTemplateServer(t, '{{ if')
    const { app } = await build(t, {
      dev: true,
      env: { AUTH_MAILER_TEMPLATES_RECOVERY: server.url },
    })

    const { body } = await app.inject('/dev/mail-templates')

    assert.equal(body.match(/srcdoc="&#60;!doctype html/g)?.length, mailKindNames.length)
  })

  test('reloads an edited file and shows its errors above the email', async (t) => {
    const folder = temporaryFolder(t, 'templates')
    const file = join(folder, 'recovery.html')
    const { app } = await build(t, {
      dev: true,
      env: {
        AUTH_TEMPLATES_DIR: folder,
        AUTH_MAILER_TEMPLATES_RECOVERY: 'recovery.html',
        AUTH_MAILER_SUBJECTS_INVITE: 'Come in, {{ if',
      },
    })
    const problems = async () => {
      const { body } = await app.inject('/dev/mail-templates')
      return [...body.matchAll(/<p class="problem">(.*?)<\/p>/g)].map(([, text]) => text)
    }
    const subject = /^AUTH_MAILER_SUBJECTS_INVITE has an error; the default is used: /

    const [subjectProblem, missing] = await problems()
    assert.match(subjectProblem ?? '', subject)
    assert.match(
      missing ?? '',
      /AUTH_MAILER_TEMPLATES_RECOVERY could not be used; the built-in text is sent: .*recovery\.html: ENOENT/,
    )

    writeFileSync(file, '<p>Nothing to click</p>')
    assert.match((await problems())[1] ?? '', /contains neither link nor code/)

    writeFileSync(file, '<p>{{ .Token }}</p>')
    assert.equal((await problems()).length, 1)
  })
})
