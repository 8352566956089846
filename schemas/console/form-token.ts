import { Type } from '@sinclair/typebox'

/** Sent by this server's pages with every change; a form of another site cannot set a header. */
export const FormTokenHeader = Type.Object({
  'x-form-token': Type.Optional(
    Type.String({ description: '`form_token` of GET /console/session' }),
  ),
})
