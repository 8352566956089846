/** Who acts: in audit entries, log lines and events, everywhere in this shape. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from './choices.ts'

/** Every kind of actor, with what its `id` is. */
const actorTypes = [
  'user', // The user's id.
  'admin', // The user id of an admin who is signed in.
  'service', // A token with an admin role and without a session; the id is its subject, if that is a user.
  'scim', // The id of the SCIM connection.
  'client', // The id of the OAuth client that changes its own registration.
  'anonymous', // A request without a token that concerns no user.
  'system', // A command or a job of this server.
] as const

const Actor = Type.Object(
  {
    type: StringEnum(actorTypes, {
      description:
        '`service` is a token with an admin role and without a session, `system` a command or a job',
    }),
    id: nullable(
      Type.String({
        description: 'Of the user, SCIM connection or OAuth client; null for others',
      }),
    ),
    role: Type.Optional(Type.String({ description: 'Of an admin or a service token' })),
  },
  {
    title: 'Actor',
    description: 'Before a sign-in, the user concerned',
  },
)

/** As the claim of access tokens (RFC 8693 §4.1). */
export const Act = Type.Object(
  { sub: Type.String() },
  { title: 'Act', description: 'The impersonating admin (RFC 8693 §4.1)' },
)

/** Of what may be from an earlier release, which stored none. */
export const actingFields = { actor: Type.Optional(Actor), act: Type.Optional(Act) }

const ActingShape = Type.Object({ ...actingFields, actor: Actor })
export type Acting = Static<typeof ActingShape>

/** Of commands and jobs. */
export const systemActing: Acting = { actor: { type: 'system', id: null } }
