/** The list of users, and the creation of one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Listing } from '../../../db/users/search.ts'
import {
  recordPreparation,
  recordServerRole,
  requireProvenHolder,
} from '../../../modules/access/index.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import {
  createUserAsAdmin,
  listUserPage,
  listUsersAfter,
  readNewAdminUser,
  readUserFilter,
  readUserSearch,
} from '../../../modules/users/index.ts'
import { NewRecord, UserPath } from '../../../schemas/admin-user.ts'
import { readStateFilter, UserFilterQuery } from '../../../schemas/console/user-filter.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { readUuid } from '../../../schemas/fields.ts'
import {
  linkTarget,
  PageQuery,
  paginationHeaders,
  readLimit,
  readPage,
} from '../../../schemas/pagination.ts'
import { toUser, User } from '../../../schemas/user.ts'

const path = '/admin/users'

const Query = Type.Object({
  ...PageQuery,
  ...UserFilterQuery,
  sort: Type.Optional(Type.String({ description: 'created_at desc (default) or created_at asc' })),
  filter: Type.Optional(
    Type.String({ description: 'Part of the email address or of user_metadata.full_name' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Part of an email address, phone number or name, or an id',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      description:
        '1 to 1000, more means 1000: paginates by cursor, without a total, instead of by page',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the previous response' })),
})

const List = Type.Object({
  users: Type.Array(User),
  aud: Type.String(),
  next_cursor: Type.Optional(Type.String()),
  pagination: Type.Optional(
    Type.Object(
      { next_cursor: Type.Optional(Type.String()), has_more: Type.Boolean() },
      { description: 'Of a page by cursor' },
    ),
  ),
})

const users: FastifyPluginAsyncTypebox = async (app) => {
  const { config } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List and search users',
        description:
          'By page, with X-Total-Count and Link headers, or by cursor, which is fast for any length. ' +
          'X-Total-Count-Precision states whether the total is exact or estimated. Identities and factors are omitted.',
        tags: ['admin'],
        querystring: Query,
        response: { 200: List, ...ErrorResponses },
      },
    },
    async ({ query, audience: aud }, reply) => {
      const page = readPage(query)
      const listing = {
        aud,
        direction: readDirection(query.sort),
        search: await searchIn(query, aud),
      }
      const filter = readStateFilter(query)
      if (query.limit || query.cursor || filter || isByCursor(query)) {
        const size = readLimit(query.limit, { isCapped: true })
        const found = await listUsersAfter(app, listing, query.cursor, size, filter)
        const { cursor } = found
        const next = linkTarget(path, { ...query, page: undefined, cursor })
        if (cursor) reply.header('link', `<${next}>; rel="next"`)
        return sendJson(reply, found.body)
      }
      const found = await listUserPage(app, listing, page)
      reply.headers(paginationHeaders(path, query, page, found))
      return sendJson(reply, found.body)
    },
  )

  /** As in GoTrue with the same setting. */
  function isByCursor({ page, per_page }: Static<typeof Query>): boolean {
    return config.AUTH_EXPERIMENTAL_CURSOR_PAGINATION_ENABLED && !page && !per_page
  }

  async function searchIn({ q, filter }: Static<typeof Query>, aud: string) {
    if (q?.trim()) return readUserSearch(app, q, aud)
    return filter ? readUserFilter(app, filter) : undefined
  }
}

function readDirection(sort: string | undefined): Listing['direction'] {
  const order = (sort || 'created_at').toLowerCase()
  if (order === 'created_at asc') return 'asc'
  if (order === 'created_at' || order === 'created_at desc') return 'desc'
  throw validationFailed('sort must be "created_at asc" or "created_at desc"')
}

/** Sends a body that is already serialized in the form of the schema. */
function sendJson(reply: FastifyReply, body: Buffer) {
  return reply.type('application/json; charset=utf-8').send(body)
}

const createUser: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const schema = {
    description:
      'No email is sent. Addresses are unconfirmed unless the request sets otherwise; with a role of AUTH_JWT_ADMIN_ROLES it has to.',
    tags: ['admin'],
    body: NewRecord,
    response: { 200: User, ...ErrorResponses },
  }

  app.post(
    '/admin/users',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: { ...schema, summary: 'Create a user' },
    },
    (request) => insert(request, request.body),
  )

  app.post(
    '/admin/users/:user_id',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: { ...schema, summary: 'Create a user with a given id', params: UserPath },
    },
    async (request) => {
      const id = readUuid('user_id', request.params.user_id)
      return insert(request, { ...request.body, id })
    },
  )

  async function insert(request: FastifyRequest, record: NewRecord) {
    const now = new Date()
    const draft = await readNewAdminUser(
      app,
      { ...record, aud: record.aud || request.audience },
      now,
    )
    const user = await db.transaction().execute(async (trx) => {
      await bearerAuth.reauthorizeAdmin(trx, request, now)
      bearerAuth.checkGrantedRole(request, draft.role)
      const inserted = await createUserAsAdmin(app, trx, draft, now)
      await recordPreparation(trx, request, { before: undefined, after: inserted }, now)
      const traits = { now, ...changedUserFields(undefined, inserted) }
      await recordAdminActionOnUser(audit, trx, 'user_signedup', request, inserted, traits)
      if (draft.role && bearerAuth.adminRoles.includes(draft.role)) {
        await requireProvenHolder(trx, inserted, { isNamed: true })
        await recordServerRole(app, trx, { userId: inserted.id, role: draft.role }, now)
      }
      return inserted
    })
    return toUser(user)
  }
}

export const usersRoutes = { users, createUser }
