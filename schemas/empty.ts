import { Type } from '@sinclair/typebox'

/** `{}`: done, and nothing to tell. */
export const Empty = Type.Object({}, { additionalProperties: false })

/** No body at all: 204, and redirects. */
export const NoBody = Type.Null()

/** The id of a message of ours, whether or not one was sent. */
export const MessageId = Type.Object({ message_id: Type.String({ format: 'uuid' }) })
