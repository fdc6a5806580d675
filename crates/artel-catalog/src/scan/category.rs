//! What a finding is about, in our words and in those of the OWASP Agentic Skills Top 10.

use serde::{Serialize, Serializer};

/// What a finding is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Category {
    /// Instructions that turn an agent against whoever it works for.
    PromptInjection,
    /// Text or files that people do not see as machines do.
    HiddenContent,
    /// Data that is sent away.
    Exfiltration,
    /// Keys, passwords and tokens that are looked for.
    CredentialAccess,
    /// Input that becomes a command.
    CommandInjection,
    /// Data or machines that are destroyed.
    Destruction,
    /// Code that hides what it does.
    Obfuscation,
    /// Changes that outlast the task.
    Persistence,
    /// Rights that are gained, and protection that is switched off.
    PrivilegeEscalation,
    /// Somebody else's machine, used for own ends.
    ResourceAbuse,
    /// Code that comes from elsewhere when the skill is used.
    SupplyChain,
    /// Instructions that come from elsewhere when the skill is used.
    RemoteInstructions,
    /// Behaviour that the manifest does not speak of.
    PermissionMismatch,
    /// Claims about the skill that mislead whoever chooses it.
    Metadata,
    /// Secrets that were left in the files.
    LeakedSecret,
    /// Files that cannot be reviewed.
    OpaqueFile,
}

impl Category {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PromptInjection => "prompt-injection",
            Self::HiddenContent => "hidden-content",
            Self::Exfiltration => "exfiltration",
            Self::CredentialAccess => "credential-access",
            Self::CommandInjection => "command-injection",
            Self::Destruction => "destruction",
            Self::Obfuscation => "obfuscation",
            Self::Persistence => "persistence",
            Self::PrivilegeEscalation => "privilege-escalation",
            Self::ResourceAbuse => "resource-abuse",
            Self::SupplyChain => "supply-chain",
            Self::RemoteInstructions => "remote-instructions",
            Self::PermissionMismatch => "permission-mismatch",
            Self::Metadata => "metadata",
            Self::LeakedSecret => "leaked-secret",
            Self::OpaqueFile => "opaque-file",
        }
    }

    /// Returns the risk of the OWASP Agentic Skills Top 10 that it belongs to.
    pub fn owasp(self) -> OwaspRisk {
        match self {
            Self::PromptInjection
            | Self::HiddenContent
            | Self::Exfiltration
            | Self::CredentialAccess
            | Self::Destruction
            | Self::Obfuscation
            | Self::Persistence
            | Self::ResourceAbuse => OwaspRisk::MaliciousSkills,
            Self::SupplyChain => OwaspRisk::SupplyChainCompromise,
            Self::PrivilegeEscalation | Self::PermissionMismatch => OwaspRisk::OverPrivilegedSkills,
            Self::Metadata | Self::LeakedSecret => OwaspRisk::InsecureMetadata,
            Self::RemoteInstructions => OwaspRisk::UntrustedExternalInstructions,
            Self::CommandInjection => OwaspRisk::WeakIsolation,
            Self::OpaqueFile => OwaspRisk::PoorScanning,
        }
    }
}

impl Serialize for Category {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A risk of the OWASP Agentic Skills Top 10.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum OwaspRisk {
    /// AST01
    MaliciousSkills,
    /// AST02
    SupplyChainCompromise,
    /// AST03
    OverPrivilegedSkills,
    /// AST04
    InsecureMetadata,
    /// AST05
    UntrustedExternalInstructions,
    /// AST06
    WeakIsolation,
    /// AST07
    UpdateDrift,
    /// AST08
    PoorScanning,
    /// AST09
    NoGovernance,
    /// AST10
    CrossPlatformReuse,
}

impl OwaspRisk {
    /// Every risk, in the order of its number.
    pub const ALL: [Self; 10] = [
        Self::MaliciousSkills,
        Self::SupplyChainCompromise,
        Self::OverPrivilegedSkills,
        Self::InsecureMetadata,
        Self::UntrustedExternalInstructions,
        Self::WeakIsolation,
        Self::UpdateDrift,
        Self::PoorScanning,
        Self::NoGovernance,
        Self::CrossPlatformReuse,
    ];

    /// Returns its number, such as `AST01`.
    pub fn id(self) -> &'static str {
        match self {
            Self::MaliciousSkills => "AST01",
            Self::SupplyChainCompromise => "AST02",
            Self::OverPrivilegedSkills => "AST03",
            Self::InsecureMetadata => "AST04",
            Self::UntrustedExternalInstructions => "AST05",
            Self::WeakIsolation => "AST06",
            Self::UpdateDrift => "AST07",
            Self::PoorScanning => "AST08",
            Self::NoGovernance => "AST09",
            Self::CrossPlatformReuse => "AST10",
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaliciousSkills => "Malicious Skills",
            Self::SupplyChainCompromise => "Supply Chain Compromise",
            Self::OverPrivilegedSkills => "Over-Privileged Skills",
            Self::InsecureMetadata => "Insecure Metadata",
            Self::UntrustedExternalInstructions => "Untrusted External Instructions",
            Self::WeakIsolation => "Weak Isolation",
            Self::UpdateDrift => "Update Drift",
            Self::PoorScanning => "Poor Scanning",
            Self::NoGovernance => "No Governance",
            Self::CrossPlatformReuse => "Cross-Platform Reuse",
        }
    }
}

impl Serialize for OwaspRisk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
