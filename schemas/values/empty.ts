import { Type } from '@sinclair/typebox'

/** `{}`: success without data. */
export const EmptyObject = Type.Object({}, { additionalProperties: false })

/** No body: 204, and redirects. */
export const NoBody = Type.Null()

/** A message id, whether or not a message was sent. */
export const MessageId = Type.Object({ message_id: Type.String({ format: 'uuid' }) })
