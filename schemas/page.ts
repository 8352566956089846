import { Type } from '@sinclair/typebox'

import { ErrorBody } from './error.ts'

const html = { 'text/html': { schema: Type.String() } }

/** HTML responses. */
export const HtmlPage = { content: html }

/** A page for user errors, or a JSON error for an unreadable request. */
export const PageOrError = { content: { ...html, 'application/json': { schema: ErrorBody } } }
