import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'

import type { Listing } from '../../../db/user-search.ts'
import { validationFailed } from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  linkTarget,
  PageQuery,
  pageHeaders,
  readLimit,
  readPage,
} from '../../../schemas/pagination.ts'
import { User } from '../../../schemas/user.ts'

const path = '/admin/users'

const Query = Type.Object({
  ...PageQuery,
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
    Type.String({ description: '1 to 1000: list by cursor, without counting, instead of by page' }),
  ),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the answer before' })),
})

const List = Type.Object({
  users: Type.Array(User),
  aud: Type.String(),
  next_cursor: Type.Optional(Type.String()),
})

const list: FastifyPluginAsyncTypebox = async (fastify) => {
  const { users } = fastify

  fastify.get(
    path,
    {
      schema: {
        summary: 'List and search people',
        description:
          'By page, with X-Total-Count and Link headers, or by cursor, which stays fast however long the list is. ' +
          'X-Total-Count-Precision says whether the count is exact or an estimate. Identities and factors are left out.',
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
      if (query.limit || query.cursor) {
        const found = await users.pageAfter(listing, query.cursor, readLimit(query.limit))
        const { cursor } = found
        if (cursor) reply.header('link', `<${linkTarget(path, { ...query, cursor })}>; rel="next"`)
        return answer(reply, found.body)
      }
      const found = await users.page(listing, page)
      reply.headers(pageHeaders(path, query, page, found))
      return answer(reply, found.body)
    },
  )

  async function searchIn({ q, filter }: Static<typeof Query>, aud: string) {
    if (q?.trim()) return users.readSearch(q, aud)
    return filter ? users.readFilter(filter) : undefined
  }
}

function readDirection(sort: string | undefined): Listing['direction'] {
  const asked = (sort || 'created_at').toLowerCase()
  if (asked === 'created_at asc') return 'asc'
  if (asked === 'created_at' || asked === 'created_at desc') return 'desc'
  throw validationFailed('sort must be "created_at asc" or "created_at desc"')
}

/** In the form of the schema, which is not asked once more: people are written already. */
function answer(reply: FastifyReply, body: Buffer) {
  return reply.type('application/json; charset=utf-8').send(body)
}

export default list
