import type { Right } from "./right.ts";

// The other rights of a deployer: for resources without a name of ours, and for monitoring.

const ANY = ["*"];
/** SST and Pulumi tag their resources. The condition matters because a right to change a machine is a right to act as its role. */
const OURS = { StringEquals: { "aws:ResourceTag/sst:app": "APP" } };

export const NETWORK: readonly Right[] = [
  {
    for: ["aws:ec2/vpc:Vpc"],
    actions: ["ec2:CreateVpc", "ec2:DeleteVpc", "ec2:Describe*", "ec2:ModifyVpcAttribute"],
    on: ANY,
  },
  {
    for: ["aws:ec2/subnet:Subnet"],
    actions: ["ec2:CreateSubnet", "ec2:DeleteSubnet", "ec2:ModifySubnetAttribute"],
    on: ANY,
  },
  {
    for: ["aws:ec2/routeTable:RouteTable"],
    actions: [
      "ec2:CreateRoute",
      "ec2:CreateRouteTable",
      "ec2:DeleteRoute",
      "ec2:DeleteRouteTable",
      "ec2:ReplaceRoute",
    ],
    on: ANY,
  },
  {
    for: ["aws:ec2/routeTableAssociation:RouteTableAssociation"],
    actions: [
      "ec2:AssociateRouteTable",
      "ec2:DisassociateRouteTable",
      "ec2:ReplaceRouteTableAssociation",
    ],
    on: ANY,
  },
  {
    for: ["aws:ec2/internetGateway:InternetGateway"],
    actions: [
      "ec2:AttachInternetGateway",
      "ec2:CreateInternetGateway",
      "ec2:DeleteInternetGateway",
      "ec2:DetachInternetGateway",
    ],
    on: ANY,
  },
  {
    for: ["aws:ec2/natGateway:NatGateway"],
    actions: ["ec2:CreateNatGateway", "ec2:DeleteNatGateway"],
    on: ANY,
  },
  {
    for: ["aws:ec2/eip:Eip", "aws:ec2/eipAssociation:EipAssociation"],
    actions: [
      "ec2:AllocateAddress",
      "ec2:AssociateAddress",
      "ec2:DisassociateAddress",
      "ec2:ReleaseAddress",
    ],
    on: ANY,
  },
  {
    for: [
      "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
      "aws:ec2/securityGroup:SecurityGroup",
    ],
    actions: [
      "ec2:AuthorizeSecurityGroupEgress",
      "ec2:AuthorizeSecurityGroupIngress",
      "ec2:CreateSecurityGroup",
      "ec2:DeleteSecurityGroup",
      // The interfaces of a removed Lambda stay in the subnets for a while.
      "ec2:DeleteNetworkInterface",
      "ec2:DetachNetworkInterface",
      "ec2:RevokeSecurityGroupEgress",
      "ec2:RevokeSecurityGroupIngress",
    ],
    on: ANY,
  },
  {
    for: ["aws:ec2/vpcEndpoint:VpcEndpoint"],
    actions: ["ec2:CreateVpcEndpoint", "ec2:DeleteVpcEndpoints", "ec2:ModifyVpcEndpoint"],
    on: ANY,
  },
  { for: ["aws:ec2/instance:Instance"], actions: ["ec2:RunInstances"], on: ANY },
  {
    for: ["aws:ec2/networkInterface:NetworkInterface"],
    actions: [
      "ec2:AttachNetworkInterface",
      "ec2:CreateNetworkInterface",
      "ec2:DeleteNetworkInterface",
      "ec2:DetachNetworkInterface",
      "ec2:ModifyNetworkInterfaceAttribute",
    ],
    on: ANY,
  },
  {
    for: ["aws:ec2/instance:Instance"],
    actions: [
      "ec2:ModifyInstanceAttribute",
      "ec2:StartInstances",
      "ec2:StopInstances",
      "ec2:TerminateInstances",
    ],
    on: ANY,
    when: OURS,
  },
  {
    for: ["aws:ec2/vpc:Vpc", "aws:ec2/eip:Eip"],
    actions: ["ec2:CreateTags", "ec2:DeleteTags"],
    on: [
      "elastic-ip",
      "internet-gateway",
      "natgateway",
      "network-interface",
      "route-table",
      "security-group",
      "subnet",
      "vpc",
      "vpc-endpoint",
    ].map((kind) => `ec2:*:ACCOUNT:${kind}/*`),
  },
  {
    // The right applies at the creation only, because the tag marks a machine as ours.
    for: ["aws:ec2/instance:Instance"],
    actions: ["ec2:CreateTags"],
    on: ["instance", "volume"].map((kind) => `ec2:*:ACCOUNT:${kind}/*`),
    when: { StringEquals: { "ec2:CreateAction": "RunInstances" } },
  },
  {
    for: ["aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace"],
    actions: [
      "route53:AssociateVPCWithHostedZone",
      "route53:CreateHostedZone",
      "route53:DeleteHostedZone",
      "route53:ListHostedZonesByName",
      "servicediscovery:CreatePrivateDnsNamespace",
      "servicediscovery:DeleteNamespace",
      "servicediscovery:GetNamespace",
      "servicediscovery:GetOperation",
      "servicediscovery:ListNamespaces",
      "servicediscovery:ListTagsForResource",
      "servicediscovery:TagResource",
      "servicediscovery:UntagResource",
    ],
    on: ANY,
  },
];

export const EDGE: readonly Right[] = [
  {
    for: ["aws:acm/certificate:Certificate", "aws:acm/certificateValidation:CertificateValidation"],
    actions: [
      "acm:AddTagsToCertificate",
      "acm:DeleteCertificate",
      "acm:DescribeCertificate",
      "acm:ListTagsForCertificate",
      "acm:RemoveTagsFromCertificate",
      "acm:RequestCertificate",
    ],
    on: ANY,
  },
  {
    for: ["aws:route53/record:Record", "sst.aws.HostedZoneLookup"],
    actions: [
      "route53:ChangeResourceRecordSets",
      "route53:GetChange",
      "route53:GetHostedZone",
      "route53:ListHostedZones",
      "route53:ListResourceRecordSets",
      "route53:ListTagsForResource",
    ],
    on: ANY,
  },
  {
    for: [
      "aws:apigatewayv2/api:Api",
      "aws:apigatewayv2/apiMapping:ApiMapping",
      "aws:apigatewayv2/domainName:DomainName",
      "aws:apigatewayv2/integration:Integration",
      "aws:apigatewayv2/route:Route",
      "aws:apigatewayv2/stage:Stage",
    ],
    actions: ["DELETE", "GET", "PATCH", "POST", "PUT"].map((method) => `apigateway:${method}`),
    on: ["apis", "apis/*", "domainnames", "domainnames/*", "tags/*"].map(
      (path) => `apigateway:*::/${path}`,
    ),
  },
  {
    for: ["aws:apigatewayv2/domainName:DomainName"],
    actions: ["iam:CreateServiceLinkedRole"],
    on: ["iam::ACCOUNT:role/aws-service-role/ops.apigateway.amazonaws.com/*"],
  },
  {
    // CloudWatch delivers an access log with the rights of the caller that requests it.
    for: ["aws:apigatewayv2/stage:Stage"],
    actions: [
      "logs:CreateLogDelivery",
      "logs:DeleteLogDelivery",
      "logs:DescribeResourcePolicies",
      "logs:GetLogDelivery",
      "logs:ListLogDeliveries",
      "logs:PutResourcePolicy",
      "logs:UpdateLogDelivery",
    ],
    on: ANY,
  },
  {
    for: ["aws:cloudfront/distribution:Distribution", "sst.aws.DistributionDeploymentWaiter"],
    actions: [
      "cloudfront:CreateDistribution",
      "cloudfront:DeleteDistribution",
      "cloudfront:GetDistribution",
      "cloudfront:GetDistributionConfig",
      "cloudfront:ListDistributions",
      "cloudfront:ListTagsForResource",
      "cloudfront:TagResource",
      "cloudfront:UntagResource",
      "cloudfront:UpdateDistribution",
    ],
    on: ANY,
  },
  {
    for: ["aws:cloudfront/distribution:Distribution"],
    actions: ["wafv2:GetWebACL"],
    on: ["wafv2:us-east-1:ACCOUNT:global/webacl/*"],
  },
  {
    for: ["aws:ses/receiptRule:ReceiptRule", "aws:ses/receiptRuleSet:ReceiptRuleSet"],
    actions: [
      "ses:CreateReceiptRule",
      "ses:CreateReceiptRuleSet",
      "ses:DeleteReceiptRule",
      "ses:DeleteReceiptRuleSet",
      "ses:DescribeReceiptRule",
      "ses:DescribeReceiptRuleSet",
      "ses:SetReceiptRulePosition",
      "ses:UpdateReceiptRule",
    ],
    on: ANY,
  },
  {
    for: ["aws:kms/key:Key"],
    actions: [
      "kms:CreateKey",
      "kms:DescribeKey",
      "kms:EnableKeyRotation",
      "kms:GetKeyPolicy",
      "kms:GetKeyRotationStatus",
      "kms:ListResourceTags",
      "kms:PutKeyPolicy",
      "kms:ScheduleKeyDeletion",
      "kms:TagResource",
      "kms:UntagResource",
      "kms:UpdateKeyDescription",
    ],
    on: ANY,
  },
  {
    for: ["aws:kms/key:Key", "aws:dynamodb/table:Table"],
    actions: ["kms:CreateGrant", "kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"],
    on: ["kms:*:ACCOUNT:key/*"],
    // Only the services that encrypt with the key may use it.
    when: {
      StringLike: { "kms:ViaService": ["dynamodb.*.amazonaws.com", "lambda.*.amazonaws.com"] },
    },
  },
];

export const MONITORING: readonly Right[] = [
  {
    for: ["the stack of the monitoring"],
    actions: [
      "cloudformation:CreateChangeSet",
      "cloudformation:DeleteChangeSet",
      "cloudformation:DeleteStack",
      "cloudformation:DescribeChangeSet",
      "cloudformation:DescribeStackEvents",
      "cloudformation:DescribeStacks",
      "cloudformation:ExecuteChangeSet",
      "cloudformation:GetTemplateSummary",
    ],
    on: ["cloudformation:*:ACCOUNT:stack/APP-*-operations/*"],
  },
  {
    for: ["AWS::CloudWatch::Alarm"],
    actions: [
      "cloudwatch:DeleteAlarms",
      "cloudwatch:DescribeAlarms",
      "cloudwatch:ListTagsForResource",
      "cloudwatch:PutMetricAlarm",
      "cloudwatch:TagResource",
      "cloudwatch:UntagResource",
    ],
    on: ["cloudwatch:*:ACCOUNT:alarm:APP-*"],
  },
  {
    for: ["AWS::CloudWatch::Dashboard"],
    actions: ["cloudwatch:DeleteDashboards", "cloudwatch:GetDashboard", "cloudwatch:PutDashboard"],
    on: ["cloudwatch::ACCOUNT:dashboard/APP-*"],
  },
  {
    for: ["AWS::Budgets::Budget"],
    actions: ["budgets:ListTagsForResource", "budgets:ModifyBudget", "budgets:ViewBudget"],
    on: ["budgets::ACCOUNT:budget/APP-*"],
  },
  {
    for: ["the preflight"],
    actions: [
      "iam:SimulatePrincipalPolicy",
      "lambda:GetAccountSettings",
      "servicequotas:GetAWSDefaultServiceQuota",
      "servicequotas:GetServiceQuota",
    ],
    on: ANY,
  },
];
