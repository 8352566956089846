import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { recordAdminAction } from '../../../modules/audit/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import { getLanguageName } from '../../../schemas/values/language-name.ts'

const Templates = Type.Object({
  kinds: Type.Array(Type.String()),
  languages: Type.Array(Type.Object({ tag: Type.String(), name: Type.String() })),
  default_language: Type.String(),
})

const Which = {
  kind: Type.String({ description: 'One of the kinds of GET /admin/mail/templates' }),
  locale: Type.Optional(Type.String({ description: 'The default language when absent' })),
}

const Preview = Type.Object({
  kind: Type.String(),
  locale: Type.String(),
  subject: Type.String(),
  html: Type.String(),
  text: Type.String(),
})

const Draft = Type.Object({
  ...Which,
  subject: Type.Optional(
    Type.String({ maxLength: 500, description: 'The one in use when absent' }),
  ),
  template: Type.Optional(Type.String({ description: 'The one in use when absent' })),
})

const DraftPreview = Type.Object({
  ...Preview.properties,
  problems: Type.Array(Type.String({ description: 'What is wrong with the texts' })),
})

const Sent = Type.Object({
  message_id: Type.String(),
  response: Type.String({ description: "The mail server's response" }),
})

const readTemplatesSchema = {
  summary: 'List the email types and languages',
  tags: ['admin'],
  response: { 200: Templates, ...ErrorResponses },
}

const readPreviewSchema = {
  summary: 'Preview an email with sample data',
  tags: ['admin'],
  querystring: Type.Object(Which),
  response: { 200: Preview, ...ErrorResponses },
}

const previewDraftSchema = {
  summary: 'A mail with sample data, by a subject and a template that are not in use yet',
  description: 'Stores nothing.',
  tags: ['admin'],
  body: Draft,
  response: { 200: DraftPreview, ...ErrorResponses },
}

const sendTestSchema = {
  summary: 'Send a test email and return the response of the mail server',
  tags: ['admin'],
  body: Type.Object({ ...Which, address: Type.String() }),
  response: { 200: Sent, ...ErrorResponses },
}

const templates: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db, languages, mailer } = app

  app.get(
    '/admin/mail/templates',
    { config: { minimumRole: 'support' }, schema: readTemplatesSchema },
    async () => ({
      kinds: [...mailer.kinds],
      languages: languages.available.map((tag) => ({ tag, name: getLanguageName(tag) })),
      default_language: languages.fallback,
    }),
  )

  app.get(
    '/admin/mail/preview',
    { config: { minimumRole: 'support' }, schema: readPreviewSchema },
    async ({ query }) => {
      const [kind, locale] = [readKind(app, query.kind), readLocale(app, query.locale)]
      const { subject, html, text } = await mailer.renderPreview(kind, locale)
      return { kind, locale, subject, html, text }
    },
  )

  app.post(
    '/admin/mail/preview',
    { config: { minimumRole: 'operator' }, schema: previewDraftSchema },
    async ({ body }) => {
      const { subject, template, ...which } = body
      const [kind, locale] = [readKind(app, which.kind), readLocale(app, which.locale)]
      // A URL would be fetched, so it is rejected.
      if (template !== undefined && !/^(<|\{\{)/.test(template)) {
        throw validationFailed('template must start with < or {{')
      }
      const rendered = await mailer.previewDraft(kind, locale, { subject, template })
      return { kind, locale, ...rendered }
    },
  )

  app.post(
    '/admin/mail/test',
    { config: { minimumRole: 'operator' }, schema: sendTestSchema },
    async (request) => {
      const now = new Date()
      const { address, ...which } = request.body
      const [kind, tag] = [readKind(app, which.kind), readLocale(app, which.locale)]
      const to = normalizeEmail(address)
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        await recordAdminAction(audit, trx, 'mail_tested', request, { now, kind })
      })
      return mailer.sendSample({ kind, tag, to }, now)
    },
  )
}

function readKind({ mailer }: FastifyInstance, text: string) {
  const kind = mailer.kinds.find((known) => known === text)
  if (kind) return kind
  throw validationFailed(`kind must be one of ${mailer.kinds.join(', ')}`)
}

function readLocale({ languages }: FastifyInstance, text: string | undefined): string {
  if (text === undefined) return languages.fallback
  const tag = languages.available.find((known) => known.toLowerCase() === text.toLowerCase())
  if (tag) return tag
  throw validationFailed(`locale must be one of ${languages.available.join(', ')}`)
}

export default templates
