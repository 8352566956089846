/** deploy/helm, rendered by helm: each object against the Kubernetes schemas, and equal to deploy/kubernetes. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service, ServiceAccount } from 'kubernetes-models/v1'
import { parse, parseAllDocuments } from 'yaml'

import { type TypedObject, unknownFields } from '../../deploy/unknown-fields.ts'
import { missing } from '../programs.ts'

const root = join(import.meta.dirname, '../../..')
const chart = join(root, 'deploy/helm/postern')
const template = ['template', 'postern', chart, '--kube-version=1.31.0']
const required = [
  '--set=config.AUTH_API_EXTERNAL_URL=https://auth.example.com',
  '--set=config.AUTH_SITE_URL=https://app.example.com',
]
const everything = [
  ...required,
  '--set=ingress.enabled=true,ingress.host=auth.example.com,ingress.className=nginx,ingress.tlsSecret=auth-tls',
  '--set-json=ingress.annotations={"cert-manager.io/cluster-issuer":"letsencrypt"}',
  '--set=podMonitor.enabled=true,networkPolicy.enabled=true',
  '--set-json=networkPolicy.ingressFrom=[{"namespaceSelector":{}}]',
  '--set-json=networkPolicy.metricsFrom=[{"podSelector":{}}]',
  '--set-json=imagePullSecrets=[{"name":"registry"}]',
  '--set-json=tolerations=[{"operator":"Exists"}]',
  '--set-json=nodeSelector={"kubernetes.io/arch":"amd64"}',
  '--set-json=podAnnotations={"example.com/note":"yes"}',
]

interface Rendered {
  kind: string
  text: string
}

/** The package of each kind, and its check of a document. */
const kinds: Record<string, { from: string | undefined; check: (text: string) => void }> = {
  Deployment: { from: 'apps/v1', check: (text) => new Deployment(parse(text)).validate() },
  Service: { from: 'v1', check: (text) => new Service(parse(text)).validate() },
  ServiceAccount: { from: 'v1', check: (text) => new ServiceAccount(parse(text)).validate() },
  ConfigMap: { from: 'v1', check: (text) => new ConfigMap(parse(text)).validate() },
  PodDisruptionBudget: {
    from: 'policy/v1',
    check: (text) => new PodDisruptionBudget(parse(text)).validate(),
  },
  Ingress: { from: 'networking.k8s.io/v1', check: (text) => new Ingress(parse(text)).validate() },
  NetworkPolicy: {
    from: 'networking.k8s.io/v1',
    check: (text) => new NetworkPolicy(parse(text)).validate(),
  },
  PodMonitor: { from: undefined, check: (text) => new PodMonitor(parse(text)).validate() },
}

suite('Helm chart', { skip: missing('helm') }, () => {
  test('passes helm lint without a warning', () => {
    const { status, stdout } = spawnSync('helm', ['lint', '--strict', ...required, chart], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  })

  for (const [name, options] of Object.entries({ required, everything })) {
    test(`renders valid objects with ${name} values`, (t) => {
      const objects = render(options)
      for (const { kind, text } of objects) getKind(kind).check(text)
      const typed = objects.map(
        ({ kind, text }): TypedObject => ({
          object: parse(text),
          type: `I${kind}`,
          from: getKind(kind).from,
        }),
      )
      assert.equal(unknownFields(t, typed), '')
    })
  }

  test('renders one object of each kind when all are enabled', () => {
    const found = render(everything).map(({ kind }) => kind)
    assert.deepEqual(found.toSorted(), Object.keys(kinds).toSorted())
  })

  test('runs the pods of deploy/kubernetes', () => {
    const rendered = renderDeployment(required)
    const plain: IDeployment = parse(
      readFileSync(join(root, 'deploy/kubernetes/deployment.yaml'), 'utf8'),
    )
    const { image, imagePullPolicy, envFrom, ...container } = getContainer(rendered)
    assert.equal(imagePullPolicy, 'IfNotPresent')
    assert.equal(image, `registry.example.com/postern:${version('package.json')}`)
    assert.deepEqual(envFrom?.length, 2)
    const { image: _, envFrom: __, ...expected } = getContainer(plain)
    assert.deepEqual(container, expected)
  })

  test('replaces the pods when a setting changes', () => {
    const annotations = (options: string[]) =>
      renderDeployment(options).spec?.template.metadata?.annotations
    const changed = annotations([...required, '--set=config.LOG_LEVEL=debug'])
    assert.notDeepEqual(changed, annotations(required))
  })

  const wrong: [name: string, options: string[], reason: RegExp][] = [
    ['no external URL', [], /AUTH_API_EXTERNAL_URL/],
    ['a secret among the settings', ['--set=config.DATABASE_URL=postgres://x'], /DATABASE_URL/],
    ['an unknown value', ['--set=replica=3'], /replica/],
    ['an ingress without a host', ['--set=ingress.enabled=true'], /ingress\.host is required/],
  ]
  for (const [name, options, reason] of wrong) {
    test(`rejects ${name}`, () => {
      const base = name === 'no external URL' ? [] : required
      const args = [...template, ...base, ...options]
      const { status, stderr } = spawnSync('helm', args, { encoding: 'utf8' })
      assert.notEqual(status, 0)
      assert.match(stderr, reason)
    })
  }

  test('has the version of the package', () => {
    const { version: own, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
    assert.deepEqual([own, appVersion], [version('package.json'), version('package.json')])
  })
})

function render(options: readonly string[]): Rendered[] {
  const text = execFileSync('helm', [...template, ...options], { encoding: 'utf8' })
  return parseAllDocuments(text)
    .filter((document) => document.toJS() !== null)
    .map((document) => ({ kind: String(document.get('kind')), text: document.toString() }))
}

function renderDeployment(options: readonly string[]): IDeployment {
  const found = render(options).find(({ kind }) => kind === 'Deployment')
  return parse(found?.text ?? '')
}

function getKind(kind: string) {
  return kinds[kind] ?? assert.fail(`unexpected ${kind}`)
}

function getContainer({ spec }: IDeployment) {
  return spec?.template.spec?.containers[0] ?? assert.fail('no container')
}

function version(file: string): string {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).version
}
