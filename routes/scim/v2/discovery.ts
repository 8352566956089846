import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { scimRejected } from '../../../schemas/errors.ts'
import { scimBase } from '../../../schemas/scim/connection.ts'
import {
  listResponse,
  resourceTypes,
  schemas,
  serviceProviderConfig,
} from '../../../schemas/scim/discovery.ts'
import { ScimErrors, ScimList, ScimResource } from './resources.ts'

const Query = Type.Object({ filter: Type.Optional(Type.String()) })
const described = { tags: ['scim'], querystring: Query }
const one = { 200: ScimResource, ...ScimErrors }
const many = { 200: ScimList, ...ScimErrors }

const Text = Type.String()

const bases = [
  {
    prefix: '',
    // In the API document, /ResourceTypes/{id} would be ambiguous with /{connection}/Users.
    isAmbiguous: true,
    Path: Type.Object({}),
    NamedPath: Type.Object({ id: Text }),
  },
  {
    prefix: '/:connection',
    isAmbiguous: false,
    Path: Type.Object({ connection: Text }),
    NamedPath: Type.Object({ connection: Text, id: Text }),
  },
]

/** Open to all: the documents say nothing about a connection. The paths without one are those of GoTrue. */
const discovery: FastifyPluginAsyncTypebox = async (app) => {
  const { AUTH_API_EXTERNAL_URL: external } = app.config

  for (const { prefix, isAmbiguous, Path, NamedPath } of bases) {
    app.get(
      `${prefix}/ServiceProviderConfig`,
      {
        schema: { ...described, params: Path, summary: 'Get what SCIM supports', response: one },
      },
      async (request) => serviceProviderConfig(getBaseUrl(request)),
    )
    app.get(
      `${prefix}/ResourceTypes`,
      { schema: { ...described, params: Path, summary: 'List resource types', response: many } },
      async (request) => listResponse(resourceTypes(getBaseUrl(request))),
    )
    app.get(
      `${prefix}/ResourceTypes/:id`,
      {
        schema: {
          ...described,
          hide: isAmbiguous,
          params: NamedPath,
          summary: 'Get a resource type',
          response: one,
        },
      },
      async (request) => find(resourceTypes(getBaseUrl(request)), request),
    )
    app.get(
      `${prefix}/Schemas`,
      { schema: { ...described, params: Path, summary: 'List SCIM schemas', response: many } },
      async (request) => listResponse(schemas(getBaseUrl(request))),
    )
    app.get(
      `${prefix}/Schemas/:id`,
      {
        schema: {
          ...described,
          hide: isAmbiguous,
          params: NamedPath,
          summary: 'Get a SCIM schema',
          response: one,
        },
      },
      async (request) => find(schemas(getBaseUrl(request)), request),
    )
  }

  /** Throws 403 for a filter (RFC 7644 §4). */
  function getBaseUrl({ params, query }: Pick<FastifyRequest, 'params' | 'query'>): string {
    const { filter }: { filter?: string } = Object(query)
    if (filter !== undefined) throw scimRejected(403, undefined, 'These lists cannot be filtered')
    const { connection }: { connection?: string } = Object(params)
    return connection ? scimBase(external, connection) : `${external}/scim/v2`
  }
}

function find<Document extends { id: string }>(
  all: readonly Document[],
  { params }: Pick<FastifyRequest, 'params'>,
): Document {
  const { id = '' }: { id?: string } = Object(params)
  const found = all.find((document) => document.id === id)
  if (!found) throw scimRejected(404, undefined, `There is no ${id}`)
  return found
}

export default discovery
