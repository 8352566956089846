import { Type } from '@sinclair/typebox'

import { ErrorBody } from './error.ts'

const html = { 'text/html': { schema: Type.String() } }

/** What is shown to people. */
export const Page = { content: html }

/** A page about what the person did wrong, or an error of whatever sent no readable request. */
export const PageOrError = { content: { ...html, 'application/json': { schema: ErrorBody } } }
