/** The page of the console with its files, and the frame in which it shows emails. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { parseCookie } from 'cookie'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'

import { crossSiteForm } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { type Bundle, builtFolder, hasSource, readBundle, watchBundle } from './bundle.ts'

/** All resources and requests stay on this server; no inline script or style. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The HTML of the console, which only loads the files. */
const consoleHeaders = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
}

const colorSchemes = ['light', 'dark'] as const

type ColorScheme = (typeof colorSchemes)[number]

/** `base` is the external path of the server without a trailing slash. */
function consolePage(
  { script, style }: Bundle,
  { base, theme }: { base: string; theme: ColorScheme | undefined },
): string {
  const assets = `${base}/console/assets`
  return `<!doctype html>
<html lang="en" data-base="${base}"${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Postern console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/${style}">
<script type="module" src="${assets}/${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`
}

const page: FastifyPluginAsync = async (app) => {
  const { config } = app
  const base = new URL(config.AUTH_API_EXTERNAL_URL).pathname.replace(/\/$/, '')
  const files = await openFiles(app)
  app.addHook('onClose', files.close)

  await app.register(fastifyStatic, {
    root: files.folder,
    prefix: '/console/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    // File names contain a content hash.
    immutable: true,
    maxAge: '1y',
    schemaHide: true,
  })

  for (const path of ['/console', '/console/*']) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => show(request, reply))
  }

  async function show(request: FastifyRequest, reply: FastifyReply) {
    const chosen = parseCookie(request.headers.cookie ?? '')[themeCookie]
    const theme = colorSchemes.find((each) => each === chosen)
    const html = consolePage(await files.bundle(), { base, theme })
    return reply.headers(consoleHeaders).type('text/html; charset=utf-8').send(html)
  }
}

/** Set by the page itself (console/shell/frame.tsx). */
const themeCookie = 'postern-console-theme'

// The files of the console: prebuilt, or bundled on request.

interface ConsoleFiles {
  folder: string
  /** The current file names. */
  bundle(): Promise<Bundle>
  close(): Promise<void>
}

/** Throws an Error with instructions when there is neither a build nor a bundler. */
async function openFiles({ config }: FastifyInstance): Promise<ConsoleFiles> {
  const built = config.dev && hasSource ? undefined : readBundle(builtFolder)
  if (built) return { folder: builtFolder, bundle: async () => built, close: async () => {} }
  return bundledFiles()
}

async function bundledFiles(): Promise<ConsoleFiles> {
  await requireBundler()
  const folder = await mkdtemp(join(tmpdir(), 'postern-console-'))
  let bundle: ReturnType<typeof watchBundle> | undefined
  return {
    folder,
    async bundle() {
      // The bundler is a separate process, started at the first request.
      bundle ??= watchBundle(folder)
      return (await bundle).build()
    },
    async close() {
      await (await bundle)?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function requireBundler(): Promise<void> {
  try {
    await import('esbuild')
  } catch {
    throw new Error(
      'AUTH_CONSOLE_ENABLED is set, but the console is not built. Run `npm ci && npm run console:build`, or unset it.',
    )
  }
}

/**
 * An opaque origin without scripts. A `srcdoc` frame would inherit the console's policy, which blocks the inline styles
 * of emails.
 */
const previewPolicy = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "frame-ancestors 'self'",
].join('; ')

const PreviewPage = Type.String()

/** Shows the HTML of an email that the console posts into a frame. */
const preview: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/console/preview',
    { schema: { hide: true, body: OauthForm, response: { 200: PreviewPage } } },
    async (request, reply) => {
      const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = request.headers
      if (site !== 'same-origin' || destination !== 'iframe') throw crossSiteForm()
      const { html = '' } = readFormFields(request.body)
      reply
        .header('content-security-policy', previewPolicy)
        .header('referrer-policy', 'no-referrer')
      return reply.type('text/html; charset=utf-8').send(html)
    },
  )
}

export const siteRoutes = { page, preview }
